import type { IncomingHttpHeaders } from 'node:http';
import { ControlError } from '../error';
import type { Token } from './token';

/** How a request came. */
export type Way =
  | { readonly kind: 'unix' }
  | {
      readonly kind: 'tcp';
      /** As told to listen on. */
      readonly host: string;
      readonly loopback: boolean;
      readonly port: number;
      readonly token: Token;
    };

/**
 * Keeps web pages and strangers out. A page that a browser shows can send requests to loopback, by name as well once its
 * own name has been made to point there (DNS rebinding): Host and Origin tell.
 * @throws ControlError
 */
export function admit(way: Way, headers: IncomingHttpHeaders): void {
  const { host = '', origin, authorization } = headers;
  if (way.kind === 'tcp' && !isOurHost(way, host))
    throw new ControlError(
      'forbidden-host',
      403,
      `expected the Host header localhost:${way.port}, found ${JSON.stringify(host)}`,
    );
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase())
    throw new ControlError(
      'forbidden-origin',
      403,
      `expected no Origin header, or this host's; found ${JSON.stringify(origin)}: web pages may not control a driver`,
    );
  if (way.kind === 'tcp' && !way.token.isIn(authorization))
    throw new ControlError(
      'unauthorized',
      401,
      `expected "Authorization: Bearer TOKEN", found ${authorization === undefined ? 'no such header' : 'another token'}; the token is in <data-dir>/control-token unless it was given`,
    );
}

function isOurHost({ host: own, loopback, port }: Way & { kind: 'tcp' }, host: string): boolean {
  // Whoever opened it to the network gave a token, and knows what names lead here.
  if (!loopback) return host !== '';
  const [, name, given = '80'] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(host.toLowerCase()) ?? [];
  if (name === undefined || Number(given) !== port) return false;
  return ['localhost', '127.0.0.1', '[::1]', own, `[${own}]`].includes(name);
}
