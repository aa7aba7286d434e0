import { type Method, type RequestOf, rpcs } from '../csi/rpcs';

/** `//`, a segment `.`, a slash at the end: spellings that name what the path without them names. */
const ODD = /\/\/|\/\.(?:\/|$)|.\/$/;

/**
 * The request with the one spelling of each of its paths, by which stages and targets are kept and locked: `/pods//a/` is
 * `/pods/a`. A slash at the end would also make the kernel follow a link there. Paths with `..` are refused before.
 * @returns the very request where nothing is to be changed, as nearly always.
 */
export function withPlainPaths<M extends Method>(method: M, request: RequestOf<M>): RequestOf<M> {
  const { targetPath, stagingTargetPath, volumePath } = rpcs[method].subject;
  let changed: Record<string, unknown> | undefined;
  for (const field of [targetPath, stagingTargetPath, volumePath]) {
    if (field === undefined) continue;
    const value = (request as Record<string, unknown>)[field];
    if (typeof value !== 'string' || !ODD.test(value)) continue;
    changed ??= { ...request };
    changed[field] = plainPath(value);
  }
  return (changed ?? request) as RequestOf<M>;
}

function plainPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return `${path.startsWith('/') ? '/' : ''}${segments.join('/')}`;
}
