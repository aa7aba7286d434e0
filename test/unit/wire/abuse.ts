import * as fs from 'node:fs';
import * as http2 from 'node:http2';
import * as net from 'node:net';
import { Code, CsiError } from '../../../src/csi/status';
import { createMemoryHost } from '../../../src/host/memory';
import { TestDriver, type TestDriverOptions } from '../../support/driver';
import { until } from '../../support/until';

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** Well-behaved clients wait no longer than this for a Probe while others misbehave; shared machines are slow. */
const PATIENCE_MS = 5_000;

/** Short, since clients that say nothing are to be seen off; a busy machine is late with pings by more than a few 100 ms. */
const KEEPALIVE_MS = 1_500;

/** A driver for bad clients, and what must hold after them. */
export class Victim {
  /** What Node would have ended the process for. */
  readonly strays: unknown[] = [];
  private readonly note = (error: unknown) => this.strays.push(error);

  private constructor(
    readonly driver: TestDriver,
    private descriptors: number,
  ) {
    process.on('unhandledRejection', this.note);
    process.on('uncaughtExceptionMonitor', this.note);
  }

  static async start(options: Partial<TestDriverOptions> = {}): Promise<Victim> {
    const driver = await TestDriver.start({
      backend: 'memory',
      host: createMemoryHost(),
      keepaliveMs: KEEPALIVE_MS,
      ...options,
    });
    await driver.csi.Probe();
    return new Victim(driver, openDescriptors());
  }

  get socket(): string {
    return this.driver.driver.socketPath;
  }

  /** The kernel refuses one too many (EAGAIN) until some have been accepted. */
  async connect(): Promise<net.Socket> {
    for (;;) {
      const connection = await this.tryToConnect();
      if (connection) return connection;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private tryToConnect(): Promise<net.Socket | undefined> {
    return new Promise((resolve, reject) => {
      const connection = net.connect(this.socket, () => {
        connection.off('error', failed);
        connection.on('error', () => undefined);
        connection.resume();
        resolve(connection);
      });
      const failed = (error: NodeJS.ErrnoException) =>
        error.code === 'EAGAIN' ? resolve(undefined) : reject(error);
      connection.once('error', failed);
    });
  }

  /** `count` clients, connected before any goes on. */
  async crowd(count: number): Promise<net.Socket[]> {
    const clients = [];
    while (clients.length < count) clients.push(await this.connect());
    return clients;
  }

  session(settings: http2.Settings = {}): http2.ClientHttp2Session {
    const createConnection = () => net.connect(this.socket);
    const session = http2.connect('http://localhost', { createConnection, settings });
    session.on('error', () => undefined);
    return session;
  }

  /** Descriptors that are open now are not the bad clients'. */
  countAnew(): void {
    this.descriptors = openDescriptors();
  }

  /** Everybody else is served all the while. One whose ping came too late connects again, as gRPC clients do. */
  async serves(): Promise<void> {
    const probe = () => this.driver.csi.Probe({}, { timeoutMs: PATIENCE_MS });
    const { ready } = await probe().catch((error) => {
      if (error instanceof CsiError && error.code === Code.DEADLINE_EXCEEDED) throw error;
      return probe();
    });
    expect(ready).toEqual({ value: true });
  }

  /** Nothing of the bad clients is left: no descriptor, no lock, no stray error. */
  async recovers(): Promise<void> {
    await this.serves();
    // Descriptors are closed a moment after their connection: the ends of both sides live in this process.
    await until('the descriptors are closed', () => openDescriptors() <= this.descriptors + 1);
    expect(this.driver.driver.locks.list()).toEqual([]);
    expect(this.strays).toEqual([]);
  }

  async close(): Promise<void> {
    process.off('unhandledRejection', this.note);
    process.off('uncaughtExceptionMonitor', this.note);
    await this.driver.close();
  }
}

const openDescriptors = () => fs.readdirSync('/proc/self/fd').length;

export const closed = (connection: net.Socket) =>
  new Promise<void>((resolve) => {
    if (connection.closed) resolve();
    else connection.once('close', () => resolve());
  });

/** A gRPC request of HTTP/2 for a method, with no message sent yet. */
export function call(
  session: http2.ClientHttp2Session,
  method: string,
  headers: http2.OutgoingHttpHeaders = {},
): http2.ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/csi.v1.${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  stream.on('error', () => undefined);
  stream.resume();
  return stream;
}

/** A gRPC message: no compression, its length, its bytes. */
export function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

export const ended = (stream: http2.ClientHttp2Stream) =>
  new Promise<void>((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', () => resolve());
  });
