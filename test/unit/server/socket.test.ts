import * as fs from 'node:fs/promises';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { UnixSocket } from '../../../src/server/socket';
import { silentLog } from '../../support/driver';

let folder: string;
let file: string;
const open: UnixSocket[] = [];

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(tmpdir(), 'fcs-'));
  file = path.join(folder, 'csi.sock');
});

afterEach(async () => {
  for (const socket of open.splice(0)) {
    await socket.stopAccepting();
    socket.destroyConnections();
  }
  await fs.rm(folder, { recursive: true, force: true });
});

async function listen(watchMs?: number): Promise<UnixSocket> {
  const socket = new UnixSocket({
    file,
    log: silentLog,
    onConnection: (connection) => connection.write('hello'),
    ...(watchMs !== undefined && { watchMs }),
  });
  open.push(socket);
  await socket.listen();
  return socket;
}

function greeting(): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = net.connect(file);
    connection.once('data', (data) => {
      connection.destroy();
      resolve(data.toString());
    });
    connection.once('error', reject);
  });
}

/** What a killed process leaves: a socket file that nobody listens on. */
async function leaveStaleSocket(): Promise<void> {
  const server = net.createServer();
  const elsewhere = path.join(folder, 'old.sock');
  await new Promise<void>((resolve) => server.listen(elsewhere, resolve));
  await fs.rename(elsewhere, file);
  await new Promise((resolve) => server.close(resolve));
}

describe('UnixSocket', () => {
  it('appears alone in its folder, for its owner only', async () => {
    await listen();
    expect(await greeting()).toBe('hello');
    expect(await fs.readdir(folder)).toEqual(['csi.sock']);
    expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
  });

  it('replaces the socket of a process that is gone', async () => {
    await leaveStaleSocket();
    expect((await fs.lstat(file)).isSocket()).toBe(true);
    await listen();
    expect(await greeting()).toBe('hello');
  });

  it('refuses a place where another process listens, and leaves that one alone', async () => {
    await listen();
    await expect(listen()).rejects.toThrow(/another process listens there/);
    expect(await greeting()).toBe('hello');
  });

  it('refuses a place that holds something else, and does not remove it', async () => {
    await fs.writeFile(file, 'precious');
    await expect(listen()).rejects.toThrow(/something that is no socket is there/);
    expect(await fs.readFile(file, 'utf8')).toBe('precious');
  });

  it('removes its file when it stops', async () => {
    const socket = await listen();
    await socket.stopAccepting();
    expect(await fs.readdir(folder)).toEqual([]);
  });

  it("leaves a successor's file alone when it stops", async () => {
    const first = await listen();
    await fs.unlink(file);
    await listen();
    await first.stopAccepting();
    expect(await greeting()).toBe('hello');
  });

  it('listens anew when somebody deletes its file', async () => {
    await listen(10);
    await fs.unlink(file);
    await appears(file);
    expect(await greeting()).toBe('hello');
  });
});

async function appears(name: string): Promise<void> {
  const watcher = fs.watch(path.dirname(name), { signal: AbortSignal.timeout(5_000) });
  if ((await fs.readdir(path.dirname(name))).includes(path.basename(name))) return;
  for await (const event of watcher) if (event.filename === path.basename(name)) return;
}
