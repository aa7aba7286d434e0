import { type Method, methods, registrationMethods, rpcs, type ServiceName } from '../../csi/rpcs';
import type { LifecycleEvent, Pattern, VolumeState } from '../model';
import { failed, failure, type Parsed } from './parsed';
import { literalOf, parsePatterns } from './patterns';
import { oneOf, quote } from './show';
import { didYouMean } from './suggest';

/** As scenarios write them; case does not matter. */
export const SERVICES: Readonly<Record<string, ServiceName>> = {
  identity: 'Identity',
  controller: 'Controller',
  groupController: 'GroupController',
  snapshotMetadata: 'SnapshotMetadata',
  node: 'Node',
  registration: 'Registration',
};

export const VOLUME_STATES: readonly VolumeState[] = ['created', 'attached', 'staged', 'published'];

export const EVENTS: readonly LifecycleEvent[] = [
  'created',
  'attached',
  'staged',
  'published',
  'unpublished',
  'unstaged',
  'detached',
  'expanded',
];

export const ACCESS_MODES = [
  'SINGLE_NODE_WRITER',
  'SINGLE_NODE_READER_ONLY',
  'MULTI_NODE_READER_ONLY',
  'MULTI_NODE_SINGLE_WRITER',
  'MULTI_NODE_MULTI_WRITER',
  'SINGLE_NODE_SINGLE_WRITER',
  'SINGLE_NODE_MULTI_WRITER',
];

export const METHOD_NAMES: readonly Method[] = [...methods, ...registrationMethods];

/**
 * The methods that patterns of names leave. Those of the registration have to be named in full: nobody who says `*` or
 * `!Probe` thinks of the kubelet's way to a driver.
 */
export function parseMethods(sources: readonly string[]): Parsed<ReadonlySet<Method>> {
  const parsed = parsePatterns(sources);
  if (failed(parsed)) return parsed;
  const { patterns } = parsed.value;
  const unknown = unknownName(patterns, METHOD_NAMES);
  if (unknown !== undefined)
    return failure(`unknown RPC ${quote(unknown)}${didYouMean(unknown, METHOD_NAMES)}`);
  const named = registrationMethods.filter((method) => patterns.some(({ source }) => source === method));
  const left: Method[] = [...methods.filter((method) => parsed.value.test(method)), ...named];
  if (left.length === 0) return failure(`no RPC matches ${quote(parsed.value.source)}`);
  return { value: new Set(left) };
}

export function parseServices(sources: readonly string[]): Parsed<readonly ServiceName[]> {
  const names = Object.keys(SERVICES);
  const lower = (text: string): string =>
    text.startsWith('/') ? text : text.toLowerCase().replace(/-/g, '');
  const parsed = parsePatterns(sources.map(lower));
  if (failed(parsed)) return parsed;
  const unknown = unknownName(parsed.value.patterns, names.map(lower));
  if (unknown !== undefined)
    return failure(
      `unknown service ${quote(unknown)}${didYouMean(unknown, names)}: expected ${oneOf(names)}`,
    );
  const left = names.filter((name) => parsed.value.test(lower(name)));
  if (left.length === 0) return failure(`no service matches ${quote(parsed.value.source)}`);
  return { value: left.map((name) => SERVICES[name] as ServiceName) };
}

export function methodsOf(services: readonly ServiceName[]): Set<Method> {
  return new Set(METHOD_NAMES.filter((method) => services.includes(rpcs[method].service)));
}

/** A pattern without wildcards that is none of the names there are. */
export function unknownName(patterns: readonly Pattern[], names: readonly string[]): string | undefined {
  return patterns
    .map(literalOf)
    .find((literal): literal is string => literal !== undefined && !names.includes(literal));
}
