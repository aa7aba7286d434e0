import type { IncomingMessage } from 'node:http';
import { ControlError } from '../error';

export const MAX_BODY_BYTES = 1024 * 1024;
/** More than that of a body that is too long is not even thrown away. */
const MAX_DISCARD_BYTES = 16 * MAX_BODY_BYTES;

/**
 * The whole body, which may be empty.
 * @throws ControlError 413 when it is longer than 1 MiB, 408 when it is not there in time, 400 when it is not UTF-8
 */
export async function readBody(request: IncomingMessage, timeoutMs: number): Promise<string> {
  const bytes = await collect(request, timeoutMs);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ControlError('invalid-request', 400, 'expected a body in UTF-8');
  }
}

function collect(request: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLarge = () => new ControlError('body-too-large', 413, 'expected a body of at most 1 MiB');
    const fail = (error: Error) => {
      clearTimeout(timer);
      request.pause();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new ControlError('timeout', 408, `expected the whole body within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // Read on and thrown away: a client that is still sending does not hear an answer.
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else if (size > MAX_DISCARD_BYTES) fail(tooLarge());
    });
    request.once('end', () => {
      clearTimeout(timer);
      if (size > MAX_BODY_BYTES) reject(tooLarge());
      else resolve(Buffer.concat(chunks));
    });
    request.once('error', fail);
  });
}

const YAML_TYPES = ['text/yaml', 'text/x-yaml', 'text/plain', 'application/yaml', 'application/x-yaml'];

/**
 * A body as JSON. YAML, where it is taken, becomes `{text}`; nothing, where that is allowed, becomes `{}`.
 * @throws ControlError 415 for another type, 400 for what is not JSON
 */
export function parseBody(
  text: string,
  contentType: string | undefined,
  { yaml, optional }: { yaml: boolean; optional: boolean },
): unknown {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';', 1);
  if (text === '' && optional) return {};
  if (yaml && YAML_TYPES.includes(type.trim())) return { text };
  if (type.trim() !== 'application/json') {
    const wanted = yaml ? 'application/json or text/yaml' : 'application/json';
    throw new ControlError(
      'unsupported-media-type',
      415,
      `expected the Content-Type ${wanted}, found ${contentType === undefined ? 'none' : JSON.stringify(contentType)}`,
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const detail = text === '' ? 'nothing' : (error as Error).message;
    throw new ControlError('invalid-json', 400, `expected a body in JSON, found ${detail}`);
  }
}
