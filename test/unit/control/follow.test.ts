import { request } from 'node:http';
import type { CallChange } from '../../../src/control/client';
import { type Controlled, probe, startControlled } from './support';

let it_: Controlled;
beforeEach(async () => {
  it_ = await startControlled({ control: { heartbeatMs: 10 } });
});
afterEach(() => it_.close());

interface Stream {
  readonly type: string | undefined;
  /** Text until it holds all of these. */
  until(...wanted: string[]): Promise<string>;
  /** Resolves when the other side has ended it. */
  readonly ended: Promise<void>;
  destroy(): void;
}

/** A response as it comes; it is there when the head is, and calls from then on are told. */
function open(accept: string, query = ''): Promise<Stream> {
  const path = `/v1/journal?follow=1${query}`;
  return new Promise((resolve, reject) => {
    const sent = request(
      { socketPath: it_.server.socket, path, headers: { accept }, agent: false },
      (answer) => {
        let text = '';
        let woken = () => {};
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8');
          woken();
        });
        resolve({
          type: answer.headers['content-type'],
          until: async (...wanted) => {
            while (!wanted.every((word) => text.includes(word)))
              await new Promise<void>((wake) => {
                woken = wake;
              });
            return text;
          },
          ended: new Promise((end) => answer.once('close', end)),
          destroy: () => answer.destroy(),
        });
      },
    );
    sent.once('error', reject);
    sent.end();
  });
}

describe('following the journal', () => {
  it('tells calls as they arrive and end, one a line, and lives on without news', async () => {
    await probe(it_);
    const stream = await open('*/*');
    expect(stream.type).toBe('application/x-ndjson; charset=utf-8');
    await it_.test.csi.GetPluginInfo();
    const text = await stream.until('answered', '\n\n');
    const changes = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as CallChange);
    expect(changes).toMatchObject([
      { change: 'received', call: { method: 'GetPluginInfo', pending: true } },
      { change: 'answered', call: { method: 'GetPluginInfo', code: 'OK' } },
    ]);
    stream.destroy();
    await stream.ended;
    expect((await it_.control.status()).processes).toHaveLength(1);
  });

  it('tells them as events to whom asks for events', async () => {
    const stream = await open('text/event-stream');
    expect(stream.type).toBe('text/event-stream; charset=utf-8');
    await probe(it_);
    const text = await stream.until('event: answered', '\n:\n');
    expect(text).toMatch(
      new RegExp(`id: ${it_.test.driver.processName}/\\d+\nevent: received\ndata: \\{.*\\}\n\n`),
    );
    stream.destroy();
  });

  it('begins where it is told to, and leaves out what is not asked for', async () => {
    await it_.control.mark('begin');
    await probe(it_);
    await it_.test.csi.GetPluginInfo();
    const stream = await open('*/*', '&since=mark:begin&rpc=Probe');
    const text = await stream.until('"change":"answered"');
    expect(text).toContain('"method":"Probe"');
    expect(text).not.toContain('GetPluginInfo');
    stream.destroy();
  });

  it('ends when the driver stops', async () => {
    const stream = await open('*/*');
    await it_.server.stop();
    await stream.ended;
  });

  it('by the client: iterates, ends by its signal, and by leaving the loop', async () => {
    await it_.control.mark('begin');
    await probe(it_);
    const leave = new AbortController();
    const seen: string[] = [];
    for await (const { change, call } of it_.control.followCalls({ since: 'mark:begin' }, leave.signal)) {
      seen.push(`${change} ${call.method}`);
      if (seen.length === 2) leave.abort();
    }
    expect(seen).toEqual(['received Probe', 'answered Probe']);
    for await (const { call } of it_.control.followCalls({ since: 'mark:begin' })) {
      expect(call.method).toBe('Probe');
      break;
    }
    for await (const _ of it_.control.followCalls({}, AbortSignal.abort()))
      throw new Error('nothing to follow');
  });

  it('says what it cannot follow instead of beginning', async () => {
    const next = (query: Parameters<typeof it_.control.followCalls>[0]) =>
      it_.control.followCalls(query).next();
    await expect(next({ since: 'mark:none' })).rejects.toMatchObject({ status: 404 });
    await expect(next({ limit: 5 })).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('follow=1'),
    });
  });
});
