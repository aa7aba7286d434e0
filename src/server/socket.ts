import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as net from 'node:net';
import * as path from 'node:path';
import { ensureFolder, errnoOf } from '../util/files';
import { isListening } from '../util/listening';
import type { Log } from '../util/log';

const LINGER_MS = 2_000;
const WATCH_MS = 3_000;
const MAX_CONNECTIONS = 1_024;

export interface SocketOptions {
  file: string;
  log: Log;
  onConnection(socket: net.Socket): void;
  /** How often the socket's file is looked for, in milliseconds: somebody may have deleted it. */
  watchMs?: number;
  /** Neither it nor its connections keep the process alive. */
  unref?: boolean;
  /** Name beside `file` that it is bound under before it is renamed; left out: eight letters and digits by chance. */
  fresh?: string;
  /** How errors speak of it. */
  words?: SocketWords;
}

export interface SocketWords {
  /** What is wrong, such as `endpoint /a/csi.sock`. */
  subject: string;
  /** What to do besides stopping or removing what is there, such as `choose another --endpoint`. */
  remedy: string;
}

/**
 * A Unix socket we own: bound beside its place and renamed into it, so that it appears ready and never for a moment
 * broken; and removed only while the file is still ours (a successor may have put its own there).
 */
export class UnixSocket {
  private readonly connections = new Set<net.Socket>();
  private server: net.Server | undefined;
  private inode: bigint | undefined;
  private watcher: NodeJS.Timeout | undefined;

  constructor(private readonly options: SocketOptions) {}

  /** @throws Error with one line when another process listens there or something that is no socket is in the way. */
  async listen(): Promise<void> {
    const { file } = this.options;
    ensureFolder(path.dirname(file));
    await makeWay(file, this.options.words);
    await this.bind();
    this.watcher = setInterval(() => void this.watch(), this.options.watchMs ?? WATCH_MS);
    this.watcher.unref();
  }

  private async bind(): Promise<void> {
    const { file } = this.options;
    const server = net.createServer((socket) => this.accept(socket));
    if (this.options.unref) server.unref();
    server.maxConnections = MAX_CONNECTIONS;
    // Never longer than the real name, whose length has been checked.
    const name =
      this.options.fresh ??
      randomBytes(8)
        .toString('hex')
        .slice(0, Math.min(8, path.basename(file).length));
    const fresh = path.join(path.dirname(file), name);
    // A name of our own that is always the same may be left from a process that was killed right here.
    if (this.options.fresh !== undefined) await fs.rm(fresh, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(fresh, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.on('error', (error) => this.options.log.error({ error: String(error) }, 'the socket failed'));
    await fs.chmod(fresh, 0o600);
    this.inode = (await fs.lstat(fresh, { bigint: true })).ino;
    await fs.rename(fresh, file);
    this.server = server;
  }

  private accept(socket: net.Socket): void {
    this.connections.add(socket);
    if (this.options.unref) socket.unref();
    socket.once('close', () => this.connections.delete(socket));
    socket.on('error', () => socket.destroy());
    // A session that failed on bad input keeps its descriptor otherwise, for as long as the process lives.
    socket.once('end', () => setTimeout(() => socket.destroy(), LINGER_MS).unref());
    this.options.onConnection(socket);
  }

  /** Somebody's clean-up may delete the file; nobody could reach us then, though we listen. */
  private async watch(): Promise<void> {
    const { file, log } = this.options;
    const found = await fs.lstat(file, { bigint: true }).catch(() => undefined);
    if (found !== undefined || this.server === undefined) return;
    log.warn({ socket: file }, 'the socket was deleted; listening anew');
    const old = this.server;
    try {
      await this.bind();
      old.close();
    } catch (error) {
      log.error({ socket: file, error: String(error) }, 'could not listen anew');
    }
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  /** Takes no new connections and removes the file, if it is still ours. Open connections go on. */
  async stopAccepting(): Promise<void> {
    clearInterval(this.watcher);
    const found = await fs.lstat(this.options.file, { bigint: true }).catch(() => undefined);
    if (found?.ino === this.inode) await fs.unlink(this.options.file).catch(() => undefined);
    this.server?.close();
    this.server = undefined;
  }

  /** Stops listening and leaves the file, as a killed process does. */
  abandon(): void {
    clearInterval(this.watcher);
    this.server?.close();
    this.server = undefined;
  }

  destroyConnections(): void {
    for (const socket of this.connections) socket.destroy();
  }
}

/**
 * Looks whether a socket may be bound there: one that nobody listens on any more, which a killed process leaves behind,
 * is in nobody's way.
 * @returns whether there is such a one. @throws Error with one line when something else is there.
 */
export async function makeWay(
  file: string,
  { subject, remedy }: SocketWords = { subject: `endpoint ${file}`, remedy: 'choose another --endpoint' },
): Promise<boolean> {
  const stat = await fs.lstat(file).catch((error) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!stat) return false;
  if (!stat.isSocket())
    throw new Error(`${subject}: something that is no socket is there; remove it or ${remedy}`);
  if (await isListening(file))
    throw new Error(`${subject}: another process listens there; stop it or ${remedy}`);
  // The rename in bind() replaces it.
  return true;
}
