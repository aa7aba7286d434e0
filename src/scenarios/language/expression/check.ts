import type { Method } from '../../../csi/rpcs';
import { rpcs } from '../../../csi/rpcs';
import { failure, type ParseFailure } from '../parsed';
import { oneOf } from '../show';
import { didYouMean } from '../suggest';
import { children, type Node } from './ast';
import type { Defaults } from './evaluate';
import { defaultOf, type Walked, walk } from './request-paths';
import { unknownBelow } from './scope-paths';

/** Sensitive by the specification's prose: their number may be used, their text not. */
const COUNT_ONLY = 'mount_flags';

export interface Checked {
  readonly failures: readonly ParseFailure[];
  readonly defaults: Defaults;
}

/**
 * Holds the paths below `request` against the requests of the methods that the expression will be evaluated for: a path
 * has to exist in one of them; in the others it is null. No methods: any path. Below the other roots, the names that
 * the engine tells.
 * @param unset roots that are empty where this expression is evaluated.
 */
export function checkPaths(root: Node, methods: Iterable<Method>, unset: readonly string[] = []): Checked {
  const types = [...methods].map((method) => rpcs[method].requestType);
  const failures: ParseFailure[] = [];
  const defaults = new Map<Node, string | number | boolean>();
  const visit = (node: Node, parent: Node | undefined): void => {
    if (node.kind === 'root' && unset.includes(node.name))
      failures.push(failure(`${node.name} is not known here`, node.offset));
    const path = node.kind === 'index' ? pathOf(node) : undefined;
    if (path === undefined) {
      for (const child of children(node)) visit(child, node);
      return;
    }
    for (const { key } of path.steps) if (key.kind !== 'literal') visit(key, node);
    visit(path.start, node);
    const refused = refusedName(path, parent);
    if (refused !== undefined) failures.push(refused);
    else if (path.start.kind === 'root' && path.start.name === 'request') {
      const found = checkRequest(path, types);
      if ('message' in found) failures.push(found);
      else if (found.missing !== undefined) defaults.set(node, found.missing);
    } else if (path.start.kind === 'root') {
      const unknown = checkScope(path, path.start.name);
      if (unknown !== undefined) failures.push(unknown);
    }
  };
  visit(root, undefined);
  return { failures, defaults };
}

interface Path {
  readonly root: Node;
  readonly start: Node;
  readonly steps: readonly { readonly key: Node; readonly name: string; readonly offset: number }[];
}

function pathOf(node: Node): Path {
  const steps: { key: Node; name: string; offset: number }[] = [];
  let start = node;
  while (start.kind === 'index') {
    const { key, offset } = start;
    steps.unshift({ key, name: key.kind === 'literal' ? String(key.value) : '*', offset });
    start = start.object;
  }
  return { root: node, start, steps };
}

function refusedName(path: Path, parent: Node | undefined): ParseFailure | undefined {
  const secret = path.steps.find((step) => step.name === 'secrets');
  if (secret !== undefined) return failure('secrets cannot be read by a scenario', secret.offset);
  const flags = path.steps.findIndex((step) => step.name === COUNT_ONLY);
  if (flags < 0) return undefined;
  const counted = parent?.kind === 'call' && (parent.name === 'size' || parent.name === 'has');
  if (counted && flags === path.steps.length - 1) return undefined;
  return failure(
    `${COUNT_ONLY} may hold passwords: a scenario can only count them, with size()`,
    path.steps[flags]?.offset,
  );
}

function checkScope(path: Path, root: string): ParseFailure | undefined {
  const names = path.steps.map((step) => step.name);
  const unknown = unknownBelow(root, names);
  if (unknown === undefined) return undefined;
  const name = names[unknown.at] ?? '';
  const whose = [root, ...names.slice(0, unknown.at)].join('.');
  const hint = didYouMean(name, unknown.candidates);
  return failure(
    `unknown name "${name}" of ${whose}${hint}: expected ${oneOf(unknown.candidates)}`,
    path.steps[unknown.at]?.offset,
  );
}

function checkRequest(
  path: Path,
  types: readonly string[],
): ParseFailure | { missing: string | number | boolean | undefined } {
  const names = path.steps.map((step) => step.name);
  const walked = types.map((type) => walk(type, names));
  const reached = walked.flatMap((one) => ('reached' in one ? [one.reached] : []));
  if (reached.length > 0) {
    const [missing, ...others] = reached.map(defaultOf);
    const agreed = reached.length === types.length && others.every((other) => other === missing);
    return { missing: agreed ? missing : undefined };
  }
  const furthest = walked.reduce<Walked | undefined>(
    (best, one) => (best === undefined || depth(one) > depth(best) ? one : best),
    undefined,
  );
  if (furthest === undefined || 'reached' in furthest) return { missing: undefined };
  const step = path.steps[furthest.at];
  const name = step?.name ?? '';
  const candidates = walked.flatMap((one) => ('at' in one && one.at === furthest.at ? one.candidates : []));
  const whose = types.length === 1 ? types[0]?.replace('csi.v1.', '') : 'any of the requests';
  return failure(`unknown field "${name}" of ${whose}${didYouMean(name, new Set(candidates))}`, step?.offset);
}

const depth = (walked: Walked): number => ('at' in walked ? walked.at : Number.POSITIVE_INFINITY);
