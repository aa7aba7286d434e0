import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { errnoOf } from '../util/files';
import { ControlError, type ControlErrorCode } from './error';

/** Where a driver's control API is. */
export type ControlAddress =
  | { readonly socket: string }
  | { readonly url: string; readonly token?: string | undefined };

export interface Question {
  readonly method: string;
  /** Percent-encoded, with the query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly accept?: string;
  /** Longest time without an answer, in milliseconds; undefined: no end. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks, and gives the answer when its head is there.
 * @throws ControlError when it is a problem, or when nobody answers; the signal's reason when that aborts first.
 */
export async function ask(address: ControlAddress, question: Question): Promise<IncomingMessage> {
  const answer = await send(address, question);
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) return answer;
  throw problemOf(status, await textOf(answer));
}

/** The same, and its whole text. */
export async function askText(address: ControlAddress, question: Question): Promise<string> {
  return textOf(await ask(address, question));
}

function send(address: ControlAddress, question: Question): Promise<IncomingMessage> {
  const { method, path, body, accept, timeoutMs, signal } = question;
  if (signal?.aborted) return Promise.reject(signal.reason);
  const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers: Record<string, string> = {
    accept: accept ?? 'application/json',
    ...(content && { 'content-type': 'application/json', 'content-length': String(content.length) }),
    ...('token' in address && address.token !== undefined && { authorization: `Bearer ${address.token}` }),
  };
  const where = placeOf(address);
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, path, method, headers, agent: false });
    const patience = timeoutMs === undefined ? undefined : setTimeout(() => late(), timeoutMs);
    const late = () =>
      sent.destroy(
        new ControlError('unreachable', 0, `${nameOf(address)} did not answer within ${timeoutMs} ms`),
      );
    const leave = () => sent.destroy();
    signal?.addEventListener('abort', leave, { once: true });
    sent.once('response', (answer) => {
      clearTimeout(patience);
      answer.once('close', () => signal?.removeEventListener('abort', leave));
      resolve(answer);
    });
    sent.once('error', (error) => {
      clearTimeout(patience);
      signal?.removeEventListener('abort', leave);
      if (signal?.aborted) reject(signal.reason);
      else reject(error instanceof ControlError ? error : unreachable(address, error));
    });
    sent.end(content);
  });
}

function placeOf(address: ControlAddress): RequestOptions {
  if ('socket' in address) return { socketPath: address.socket, host: 'localhost' };
  const { hostname, port, protocol } = new URL(address.url);
  if (protocol !== 'http:')
    throw new ControlError(
      'unreachable',
      0,
      `expected a URL such as http://127.0.0.1:9810, found ${address.url}`,
    );
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 80 : Number(port) };
}

function nameOf(address: ControlAddress): string {
  return 'socket' in address ? address.socket : address.url;
}

function unreachable(address: ControlAddress, error: Error): ControlError {
  const why: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such socket',
    ECONNREFUSED: 'nobody listens there',
    EACCES: 'this user may not connect to it',
  };
  const errno = errnoOf(error) ?? '';
  return new ControlError(
    'unreachable',
    0,
    `${nameOf(address)}: ${why[errno] ?? error.message}; is \`fake-csi serve\` running there?`,
  );
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function problemOf(status: number, text: string): ControlError {
  try {
    const problem = JSON.parse(text) as Partial<ControlError>;
    if (typeof problem.code === 'string' && typeof problem.detail === 'string')
      return new ControlError(problem.code as ControlErrorCode, status, problem.detail, problem.errors ?? []);
  } catch {
    // Not one of ours: whatever stands between says so in its own words.
  }
  return new ControlError(
    'unavailable',
    status,
    `expected a fake-csi control API, found status ${status}: ${text.slice(0, 200)}`,
  );
}
