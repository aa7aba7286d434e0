import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ControlError } from '../error';
import type { StreamReply, TextReply } from './exchange';
import { MethodNotAllowed } from './match';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Too slow',
  409: 'Conflict',
  413: 'Body too large',
  415: 'Unsupported media type',
  422: 'Not a scenario',
  500: 'Failed',
  503: 'Unavailable',
};

/** A reader that takes nothing for so long is given up: what it does not read is kept in memory. */
const STALLED_MS = 60_000;

const COMMON = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'",
};

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  end(response, status, { 'content-type': 'application/json; charset=utf-8' }, `${JSON.stringify(value)}\n`);
}

export function sendText(response: ServerResponse, { type, text, headers }: TextReply): void {
  const contentType = /charset=/.test(type) ? type : `${type}; charset=utf-8`;
  end(response, 200, { 'content-type': contentType, ...headers }, text);
}

/** RFC 9457. */
export function sendProblem(response: ServerResponse, error: ControlError): void {
  const { status, code, detail, errors } = error;
  const problem = {
    type: `urn:fake-csi:problem:${code}`,
    title: TITLES[status] ?? 'Failed',
    status,
    code,
    detail,
    ...(errors.length > 0 && { errors }),
  };
  const headers = {
    'content-type': 'application/problem+json; charset=utf-8',
    ...(error instanceof MethodNotAllowed && { allow: error.allowed.join(', ') }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    // What was not read of the request would be taken for the next one.
    ...([401, 403, 404, 405, 408, 413].includes(status) && { connection: 'close' }),
  };
  end(response, status, headers, `${JSON.stringify(problem)}\n`);
}

function end(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
): void {
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  const content = Buffer.from(text);
  response.writeHead(status, { ...COMMON, ...headers, 'content-length': content.length });
  response.end(content);
}

/** @throws what the parts throw before the head is sent; after that, the connection is cut. */
export async function sendStream(
  response: ServerResponse,
  { type, parts, heartbeat }: StreamReply,
  signal: AbortSignal,
  heartbeatMs: number,
): Promise<void> {
  const open = () => {
    if (response.headersSent) return;
    response.writeHead(200, { ...COMMON, 'content-type': `${type}; charset=utf-8` });
    response.flushHeaders();
  };
  const beat = setInterval(() => {
    if (response.headersSent && response.writableLength === 0) response.write(heartbeat);
  }, heartbeatMs);
  beat.unref();
  try {
    for await (const part of parts(open, signal)) {
      open();
      if (!response.write(part)) await drained(response);
    }
  } catch (error) {
    if (!response.headersSent) throw error;
    response.destroy();
    return;
  } finally {
    clearInterval(beat);
  }
  open();
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const stalled = setTimeout(() => response.destroy(), STALLED_MS);
  try {
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
  } finally {
    clearTimeout(stalled);
  }
}
