import { setTimeout as wait } from 'node:timers/promises';
import { connectCsi } from '../../../src/csi/client';
import { definitions } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { createVolume } from '../../support/lifecycle';
import { call, closed, ended, framed, PREFACE, SETTINGS, Victim } from './abuse';

jest.setTimeout(60_000);

let victim: Victim;
const gate = new TestGate();
beforeAll(async () => {
  victim = await Victim.start({ faults: gate });
});
afterEach(async () => {
  gate.clear();
  await victim.recovers();
});
afterAll(() => victim.close());

test('thousands of connections that end as soon as they are made', async () => {
  for (let round = 0; round < 20; round++) {
    const clients = await victim.crowd(100);
    for (const client of clients) client.destroy();
  }
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a preface', PREFACE],
  ['a preface and settings', Buffer.concat([PREFACE, SETTINGS])],
  ['half of a frame', Buffer.concat([PREFACE, SETTINGS, Buffer.from([0, 0, 8, 6])])],
])('clients that say %s and then no more are dropped in time', async (_what, bytes) => {
  const clients = await victim.crowd(60);
  for (const client of clients) client.write(bytes);
  await victim.serves();
  await Promise.all(clients.map(closed));
});

test('clients that speak a byte at a time hold nobody up', async () => {
  const clients = await victim.crowd(40);
  const words = Buffer.concat([PREFACE, SETTINGS]);
  for (const byte of words.subarray(0, 24)) {
    for (const client of clients) client.write(Buffer.from([byte]));
    await victim.serves();
  }
  for (const client of clients) client.destroy();
});

test('a request whose message comes a byte at a time is answered, and others meanwhile', async () => {
  const session = victim.session();
  const stream = call(session, 'Identity/Probe');
  for (const byte of framed(Buffer.alloc(0))) {
    stream.write(Buffer.from([byte]));
    await victim.serves();
  }
  stream.end();
  await ended(stream);
  expect(stream.rstCode).toBe(0);
  session.destroy();
});

test('a client that is killed in the middle of a call: the call ends, its volume is free', async () => {
  const { driver } = victim;
  const volume_id = await createVolume(driver, { name: 'held' });
  const held = gate.hold('ControllerPublishVolume', 'beforeAttach');
  const other = connectCsi(victim.socket, definitions());
  const request = {
    volume_id,
    node_id: 'node-1',
    volume_capability: { mount: {}, access_mode: { mode: 1 as const } },
  };
  const lost = other.ControllerPublishVolume(request).catch((error: Error) => error);
  await held.reached;
  other.close();
  await Promise.race([lost, wait(0)]);
  const session = victim.session();
  const stream = call(session, 'Identity/Probe');
  stream.end(framed(Buffer.alloc(0)));
  session.destroy();
  held.release();
  await lost;
  await driver.driver.pipeline.drained();
  await driver.csi.ControllerUnpublishVolume({ volume_id });
  await driver.csi.DeleteVolume({ volume_id });
});

test('a connection that is cut in the middle of calls: what they hold is let go', async () => {
  const held = gate.hold('GetCapacity', 'before');
  const session = victim.session();
  const streams = Array.from({ length: 20 }, () => call(session, 'Controller/GetCapacity'));
  for (const stream of streams) stream.end(framed(Buffer.alloc(0)));
  await held.reached;
  session.destroy();
  await Promise.all(streams.map(ended));
  await victim.driver.driver.pipeline.drained();
});

test('a flood of streams that are reset as soon as they are opened', async () => {
  const session = victim.session();
  for (let round = 0; round < 20 && !session.destroyed; round++) {
    const streams = Array.from({ length: 50 }, () => call(session, 'Identity/Probe'));
    for (const stream of streams) stream.close(8);
    await Promise.all(streams.map(ended));
  }
  await victim.serves();
  session.destroy();
});

test('clients that never open their window keep their answers, and nobody else waits', async () => {
  const sessions = Array.from({ length: 20 }, () => victim.session({ initialWindowSize: 0 }));
  for (const session of sessions) call(session, 'Identity/GetPluginInfo').end(framed(Buffer.alloc(0)));
  await victim.serves();
  for (const session of sessions) session.destroy();
});

test('lists of headers that are too long are refused', async () => {
  const session = victim.session();
  const headers = Object.fromEntries(Array.from({ length: 40 }, (_one, i) => [`x-${i}`, 'y'.repeat(4_000)]));
  const stream = call(session, 'Identity/Probe', headers);
  stream.end(framed(Buffer.alloc(0)));
  const answers: string[] = [];
  stream.on('response', (head) => answers.push(`${head['grpc-status'] ?? head[':status']}`));
  await ended(stream);
  expect(answers).not.toContain('0');
  session.destroy();
});

test('messages that are no messages of gRPC: a length that never comes, one that lies, one that is compressed', async () => {
  for (const bytes of ['0000000010aabb', '00ffffffff00', '0100000000', '02', 'ffffffffff']) {
    const session = victim.session();
    const stream = call(session, 'Identity/Probe');
    stream.end(Buffer.from(bytes, 'hex'));
    await ended(stream);
    session.destroy();
  }
});

test('a thousand calls at once on one connection are all answered', async () => {
  // The process that calls is the one that answers: it is busy for longer than the others here are given.
  const patient = await Victim.start({ keepaliveMs: 30_000 });
  const { csi } = patient.driver;
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => csi.GetPluginInfo()));
  expect(new Set(answers.map(({ name }) => name))).toEqual(new Set(['fake.csi.test']));
  await patient.recovers();
  await patient.close();
});
