import * as fs from 'node:fs/promises';
import * as http2 from 'node:http2';
import * as net from 'node:net';
import { connectCsi } from '../../../src/csi/client';
import { loadCsi } from '../../../src/csi/load';
import { createMemoryHost } from '../../../src/host/memory';
import type { Log } from '../../../src/util/log';
import { silentLog, TestDriver } from '../../support/driver';
import { until } from '../../support/until';

let driver: TestDriver;
const warnings: string[] = [];
const services = loadCsi();

beforeAll(async () => {
  const log: Log = { ...silentLog, warn: (_fields, message) => warnings.push(message) };
  driver = await TestDriver.start({ backend: 'memory', host: createMemoryHost(), log, keepaliveMs: 300 });
});
afterAll(() => driver.close());
// A socket whose client is done is destroyed after two seconds.
jest.setTimeout(30_000);

const socketPath = () => driver.driver.socketPath;

/** Sends bytes, waits until the other side or we have closed. */
function speak(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const connection = net.connect(socketPath(), () => connection.end(bytes));
    connection.on('error', () => undefined);
    connection.once('close', () => resolve());
    connection.resume();
  });
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** A frame that says it is 16 MiB long: FRAME_SIZE_ERROR. */
const OVERSIZED = Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]);

describe('connections', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['no HTTP/2', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['half a preface', PREFACE.subarray(0, 9)],
    ['an oversized frame', Buffer.concat([PREFACE, SETTINGS, OVERSIZED])],
    ['random bytes', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) % 251))],
  ])('keeps no descriptor of a client that sends %s', async (_what, bytes) => {
    const before = (await fs.readdir('/proc/self/fd')).length;
    await Promise.all(Array.from({ length: 40 }, () => speak(bytes)));
    await settles(before);
    expect((await driver.csi.Probe()).ready).toEqual({ value: true });
  });

  it('serves thousands of short connections, one a call, as the kubelet makes them', async () => {
    const before = (await fs.readdir('/proc/self/fd')).length;
    for (let round = 0; round < 20; round++) {
      const clients = Array.from({ length: 10 }, () => connectCsi(socketPath(), services));
      await Promise.all(clients.map((client) => client.NodeGetInfo()));
      for (const client of clients) client.close();
    }
    await settles(before);
  });

  it('says what is the matter when a client of old is refused by HTTP/2', async () => {
    warnings.length = 0;
    const session = http2.connect('http://ignored', { createConnection: () => net.connect(socketPath()) });
    session.on('error', () => undefined);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/csi.v1.Identity/Probe',
      ':authority': '/csi/csi.sock',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    await new Promise((resolve) => {
      stream.once('error', resolve);
      stream.once('close', resolve);
      stream.end();
    });
    session.destroy();
    await until('it is warned', () => warnings.length > 0);
    expect(warnings[0]).toMatch(/:authority/);
  });
});

/** Descriptors are closed a moment after their connection: the ends of both sides live in this process. */
async function settles(before: number): Promise<void> {
  await until(
    'the descriptors are closed',
    async () => (await fs.readdir('/proc/self/fd')).length <= before + 2,
  );
}
