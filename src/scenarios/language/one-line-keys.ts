/** Where the value of a condition goes in a rule, and what it is there. */
export interface Condition {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Into the value as written, from 0. */
  readonly offset: number;
}

type Expand = (value: string) => Condition[];

const at =
  (...path: string[]): Expand =>
  (value) => [{ path, value, offset: 0 }];

const counted =
  (...path: string[]): Expand =>
  (value) => [{ path, value: /^\d+$/.test(value) ? Number(value) : value, offset: 0 }];

/** `NAMESPACE/NAME` or `NAME`. */
const namespaced =
  (...path: string[]): Expand =>
  (value) => {
    // A regular expression has slashes of its own.
    const slash = /^!?\//.test(value) ? -1 : value.indexOf('/');
    const name = { path: [...path, 'name'], value: value.slice(slash + 1), offset: slash + 1 };
    return slash < 0
      ? [name]
      : [{ path: [...path, 'namespace'], value: value.slice(0, slash), offset: 0 }, name];
  };

const boolean =
  (...path: string[]): Expand =>
  (value) => [{ path, value: value === 'true' ? true : value === 'false' ? false : value, offset: 0 }];

/** The conditions of the one-line form. */
export const CONDITIONS: ReadonlyMap<string, Expand> = new Map([
  ['pvc', namespaced('match', 'volume', 'pvc')],
  ['volume', at('match', 'volume', 'id')],
  ['name', at('match', 'volume', 'name')],
  ['class', at('match', 'volume', 'storageClass')],
  ['scenario', at('match', 'volume', 'parameters', 'scenario')],
  ['fsType', at('match', 'volume', 'fsType')],
  ['accessMode', at('match', 'volume', 'accessMode')],
  ['block', boolean('match', 'volume', 'block')],
  ['capacity', at('match', 'volume', 'capacity')],
  ['node', at('match', 'node')],
  ['pod', namespaced('match', 'pod')],
  ['state', at('match', 'state', 'volume')],
  ['where', at('match', 'where')],
  ['per', at('when', 'per')],
  ['nth', at('when', 'nth')],
  ['every', counted('when', 'every')],
  ['skip', counted('when', 'skip')],
  ['times', counted('when', 'times')],
  [
    'p',
    (value) => [
      { path: ['when', 'probability'], value: value.endsWith('%') ? value : Number(value), offset: 0 },
    ],
  ],
  ['after', at('when', 'after')],
]);

/** `attr.KEY` and `param.KEY`. */
export const MAPS: ReadonlyMap<string, string> = new Map([
  ['attr', 'attributes'],
  ['param', 'parameters'],
]);

export function expandCondition(key: string, value: string): Condition[] | undefined {
  const dot = key.indexOf('.');
  const map = dot > 0 ? MAPS.get(key.slice(0, dot)) : undefined;
  if (map !== undefined && dot < key.length - 1)
    return [{ path: ['match', 'volume', map, key.slice(dot + 1)], value, offset: 0 }];
  return CONDITIONS.get(key)?.(value);
}
