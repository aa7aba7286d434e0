import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { ControlServer } from '../../../src/control';
import { connectControl } from '../../../src/control/client';
import { parseListen } from '../../../src/control/listen';
import { type Controlled, type Raw, raw, startControlled } from './support';

/** Patience of the server under test. */
const HEAD_MS = 200;
const TOKEN = 'a-token-of-32-characters-exactly';

describe('on TCP', () => {
  let it_: Controlled;
  let port: number;
  beforeAll(async () => {
    it_ = await startControlled({ control: { listen: '127.0.0.1:0', token: TOKEN } });
    port = Number(new URL(it_.server.url ?? '').port);
  });
  afterAll(() => it_.close());

  const authorization = `Bearer ${TOKEN}`;
  const ask = (headers: Raw['headers'], path?: string) =>
    raw({ port }, { headers: headers ?? {}, ...(path !== undefined && { path }) });

  it('the token and the right host let in, the client too', async () => {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect((await ask({ host, authorization })).status).toBe(200);
    const own = { origin: `http://127.0.0.1:${port}`, authorization };
    expect((await ask(own)).status).toBe(200);
    const url = it_.server.url ?? '';
    expect((await connectControl({ url, token: TOKEN }).status()).processes).toHaveLength(1);
    await expect(connectControl({ url }).status()).rejects.toMatchObject({
      status: 401,
      code: 'unauthorized',
    });
  });

  it.each([
    ['no token', undefined],
    ['another token', `Bearer ${TOKEN}x`],
    ['a shorter one', `Bearer ${TOKEN.slice(1)}`],
    ['another scheme', `Basic ${TOKEN}`],
    ['nothing of it', 'Bearer '],
  ])('%s is refused, for everything there is', async (_name, given) => {
    for (const path of ['/v1/status', '/metrics', '/v1/openapi.json', '/nothing']) {
      const answer = await ask(given === undefined ? {} : { authorization: given }, path);
      expect(answer.json()).toMatchObject({ status: 401, code: 'unauthorized' });
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.text).not.toContain(TOKEN);
    }
  });

  it.each(['evil.example', `evil.example:80`, 'localhost', 'localhost:1', '127.0.0.1.evil.example'])(
    'the Host %j is refused before the token is looked at',
    async (host) => {
      expect((await ask({ host, authorization })).json()).toMatchObject({
        status: 403,
        code: 'forbidden-host',
      });
    },
  );

  it('so is a request without one', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`GET /v1/status HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`);
    expect(await everything(socket)).toContain('"code":"forbidden-host"');
  });

  it.each(['http://evil.example', 'null', 'https://127.0.0.1', 'http://localhost:1'])(
    'the Origin %s is refused',
    async (origin) => {
      expect((await ask({ origin, authorization })).json()).toMatchObject({
        status: 403,
        code: 'forbidden-origin',
      });
    },
  );
});

describe('the token', () => {
  it('is made once, for its owner alone, and used by the next process', async () => {
    const first = await startControlled({ control: { listen: '127.0.0.1:0' } });
    const file = path.join(first.test.dataDir, 'control-token');
    const token = readFileSync(file, 'utf8').trim();
    expect(token.length).toBeGreaterThanOrEqual(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await first.server.stop();
    const { driver } = first.test;
    const second = await ControlServer.start(driver, { listen: 'localhost:0', tokenFile: file });
    try {
      const client = connectControl({ url: second.url ?? '', token });
      expect((await client.status()).processes).toHaveLength(1);
    } finally {
      await second.stop();
      await first.close();
    }
  });

  it.each(['short', 'with a space in the middle of it', ''])('is refused as %j', async (text) => {
    const plain = await startControlled();
    const tokenFile = path.join(plain.test.dir, 'token');
    writeFileSync(tokenFile, text);
    await plain.server.stop();
    try {
      await expect(
        ControlServer.start(plain.test.driver, { listen: '127.0.0.1:0', tokenFile }),
      ).rejects.toThrow('expected a token of at least 16 printable characters');
    } finally {
      await plain.close();
    }
  });
});

describe('where it may listen', () => {
  it.each(['127.0.0.1:9810', 'localhost:0', '[::1]:65535', '127.8.8.8:1'])('%s needs no token', (text) => {
    expect(parseListen(text, false).loopback).toBe(true);
  });

  it.each(['0.0.0.0:9810', '[::]:9810', '10.0.0.1:80', 'example.org:80', '127.0.0.1.example.org:80'])(
    '%s needs one',
    (text) => {
      expect(() => parseListen(text, false)).toThrow('only loopback');
      expect(parseListen(text, true).loopback).toBe(false);
    },
  );

  it.each(['9810', ':9810', '127.0.0.1', '127.0.0.1:65536', 'http://127.0.0.1:1', '::1:80', ''])(
    '%j is no address',
    (text) => {
      expect(() => parseListen(text, true)).toThrow('expected an address such as 127.0.0.1:9810');
    },
  );

  it('is said when somebody else is there', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as net.AddressInfo;
    const plain = await startControlled();
    try {
      await expect(ControlServer.start(plain.test.driver, { listen: `127.0.0.1:${port}` })).rejects.toThrow(
        `--control-listen 127.0.0.1:${port}: EADDRINUSE`,
      );
    } finally {
      taken.close();
      await plain.close();
    }
  });
});

describe('on the Unix socket', () => {
  let it_: Controlled;
  beforeAll(async () => {
    it_ = await startControlled({ control: { headMs: HEAD_MS, bodyMs: HEAD_MS } });
  });
  afterAll(() => it_.close());

  const ask = (asked: Raw) => raw({ socketPath: it_.server.socket ?? '' }, asked);
  const json = { 'content-type': 'application/json' };

  it('no token is asked for, and web pages are refused all the same', async () => {
    expect((await ask({})).status).toBe(200);
    expect((await ask({ headers: { origin: 'http://evil.example' } })).json()).toMatchObject({
      status: 403,
      code: 'forbidden-origin',
    });
    expect(statSync(it_.server.socket ?? '').mode & 0o777).toBe(0o600);
  });

  it('answers are for programs, and no browser guesses', async () => {
    const { headers } = await ask({});
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'",
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it.each([
    ['/', 404, 'no-such-route', 'near: '],
    ['/v1/scenario', 404, 'no-such-route', 'GET /v1/scenarios'],
    ['/v1/volumes/a/b', 404, 'no-such-route', 'GET /v1/volumes/{id}'],
    ['//v1/status', 404, 'no-such-route', 'near: '],
    ['/v1/scenarios/%zz', 400, 'invalid-request', 'percent-encoded'],
    ['/v1/status?al=1', 400, 'invalid-request', 'unknown "al"; there are all'],
    ['/v1/status?all=yes', 400, 'invalid-request', 'query.all'],
    ['/v1/status?all=1&all=1', 400, 'invalid-request', 'query.all'],
    ['/v1/probe?x=1', 400, 'invalid-request', 'query.x: expected none'],
    ['/v1/journal?limit=0', 400, 'invalid-request', 'query.limit'],
    ['/v1/journal?limit=many', 400, 'invalid-request', 'query.limit'],
    ['/v1/calls/0:explain', 400, 'invalid-request', 'path.n'],
  ])('%s is %i %s', async (path, status, code, detail) => {
    const answer = await ask({ path });
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.json()).toMatchObject({
      type: `urn:fake-csi:problem:${code}`,
      title: expect.any(String),
      status,
      code,
      detail: expect.stringContaining(detail),
    });
    expect(answer.status).toBe(status);
  });

  it('another method is told which there are', async () => {
    const answer = await ask({ path: '/v1/scenarios/slow', method: 'PATCH' });
    expect(answer.json()).toMatchObject({ status: 405, code: 'method-not-allowed' });
    expect(answer.headers.allow).toBe('GET, PUT, DELETE');
    expect((await ask({ path: '/v1/scenarios/slow:arm' })).headers.allow).toBe('POST');
    expect((await ask({ method: 'OPTIONS' })).status).toBe(405);
    expect(await ask({ method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it.each([
    ['{', json, 400, 'invalid-json'],
    ['', json, 400, 'invalid-json'],
    ['[]', json, 400, 'invalid-request'],
    ['{"rule":7}', json, 400, 'invalid-request'],
    ['{"rule":"Probe: ok","when":1}', json, 400, 'invalid-request'],
    ['{}', json, 400, 'invalid-request'],
    ['{}', {}, 415, 'unsupported-media-type'],
    ['rule=x', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported-media-type'],
    ['Probe: ok', { 'content-type': 'text/plain' }, 415, 'unsupported-media-type'],
    [Buffer.from([0x22, 0xff, 0x22]), json, 400, 'invalid-request'],
  ])('the body %p with %j is %i %s', async (body, headers, status, code) => {
    expect((await ask({ method: 'POST', path: '/v1/rules', headers, body })).json()).toMatchObject({
      status,
      code,
    });
  });

  it('a body of more than 1 MiB is refused, whether its length is told or not', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await ask({
        method: 'POST',
        path: '/v1/scenarios:validate',
        headers: { ...json, ...headers },
        body,
      });
      expect(answer.json()).toMatchObject({ status: 413, code: 'body-too-large' });
    }
    const most = JSON.stringify({ text: '#'.repeat(1024 * 1024 - 64) });
    const answer = await ask({ method: 'POST', path: '/v1/scenarios:validate', headers: json, body: most });
    expect(answer.status).toBe(200);
  });

  const connect = () => net.connect(it_.server.socket ?? '');

  it('who never finishes a head is cut, before the first request and after one', async () => {
    const silent = connect();
    expect(await everything(silent)).toBe('');
    const slow = connect();
    slow.write('GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/status HTTP/1.1\r\n');
    expect((await everything(slow)).match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('who asks on before the answer is not cut while it waits', async () => {
    const socket = connect();
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(head('/v1/status') + head('/v1/journal?follow=1'));
    let text = '';
    let answered = false;
    for await (const chunk of socket) {
      text += String(chunk);
      // A call that comes after the patience for heads is over, as another connection shows, must still be told.
      if (!answered && text.match(/HTTP\/1\.1 200/g)?.length === 2) {
        answered = true;
        expect(await everything(connect())).toBe('');
        await it_.test.csi.Probe();
      }
      if (text.includes('"change":"answered"')) break;
    }
    expect(text).toContain('"method":"Probe"');
  });

  it('who never finishes a body is told, and cut', async () => {
    const slow = connect();
    slow.write(
      'POST /v1/rules HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    const text = await everything(slow);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('"code":"timeout"');
  });

  it('what is no HTTP is refused', async () => {
    const socket = connect();
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect(await everything(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a mount of rubbish leaves it answering', async () => {
    const names = ['..', '%2e%2e', '__proto__', 'constructor', '%00', 'a'.repeat(5_000), '%F0%9F%98%80'];
    for (const name of names)
      for (const path of [
        `/v1/volumes/${name}`,
        `/v1/scenarios/${name}`,
        `/v1/rules/${name}`,
        `/v1/${name}`,
      ]) {
        const { status } = await ask({ path, method: path.startsWith('/v1/rules') ? 'DELETE' : 'GET' });
        expect([400, 404]).toContain(status);
      }
    expect((await ask({})).status).toBe(200);
  });
});

async function everything(socket: net.Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}
