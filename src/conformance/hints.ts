/** String maps as parameters of a StorageClass and its like. */
export type Strings = Readonly<Record<string, string>>;

/** What a person knows about a driver and the driver cannot be asked. All optional: what is missing makes cases not applicable. */
export interface Hints {
  /** Parameters of every CreateVolume. */
  readonly parameters?: Strings;
  /** Parameters of every CreateSnapshot and CreateVolumeGroupSnapshot. */
  readonly snapshotParameters?: Strings;
  /** Secrets of every request that has a place for them. */
  readonly secrets?: Strings;
  /** Well-formed secrets that authenticate nobody, of a driver that insists on some. */
  readonly wrongSecrets?: Strings;
  /** Mutable parameters of a volume, of two keys or more. */
  readonly mutableParameters?: Strings;
  /** Other values for a part of those keys. */
  readonly modifiedParameters?: Strings;
  /** Id of a second node that volumes can be attached to. */
  readonly otherNode?: string;
  /** Segments of a place, other than this node's, where volumes can be made. */
  readonly otherTopology?: Strings;
  /** Volume parameters that the driver does not support. */
  readonly unsupportedParameters?: Strings;
  /** Volume parameters: staging it (publishing it where nothing is staged) takes two seconds or more. */
  readonly slowVolume?: Strings;
  /** Volume parameters: NodePublishVolume fails after a part of its work was done. */
  readonly failingPublish?: Strings;
  /** Volume parameters: no part of a group snapshot. */
  readonly ungroupableVolume?: Strings;
  /** Snapshot parameters: cut at once, `ready_to_use` two seconds later or more, and within a minute. */
  readonly slowSnapshot?: Strings;
  /** Snapshot parameters: a volume restored from it keeps it in use. */
  readonly dependentSnapshot?: Strings;
  /** Snapshot parameters: changed blocks are not tracked. */
  readonly untrackedSnapshot?: Strings;
  /** Fields of GetMetadataAllocated with which its stream fails before it is complete. */
  readonly failingStream?: Readonly<Record<string, string | number>>;
}

const MAPS = [
  'parameters',
  'snapshotParameters',
  'secrets',
  'wrongSecrets',
  'mutableParameters',
  'modifiedParameters',
  'otherTopology',
  'unsupportedParameters',
  'slowVolume',
  'failingPublish',
  'ungroupableVolume',
  'slowSnapshot',
  'dependentSnapshot',
  'untrackedSnapshot',
  'failingStream',
] as const satisfies readonly (keyof Hints)[];

/** @param from what the value was read from, for messages. @throws Error with one line */
export function checkHints(value: unknown, from: string): Hints {
  if (!isMap(value)) throw new Error(`${from}: expected a map of hints, found ${JSON.stringify(value)}`);
  for (const [name, hint] of Object.entries(value)) {
    if (name === 'otherNode') {
      if (typeof hint !== 'string') throw new Error(`${from}: ${name}: expected the id of a node`);
      continue;
    }
    if (!(MAPS as readonly string[]).includes(name))
      throw new Error(`${from}: unknown hint "${name}"; known are otherNode, ${MAPS.join(', ')}`);
    if (!isMap(hint) || !Object.values(hint).every(isScalar))
      throw new Error(`${from}: ${name}: expected a map of strings, found ${JSON.stringify(hint)}`);
  }
  const asText = (name: string, hint: unknown) =>
    isMap(hint) && name !== 'failingStream'
      ? Object.fromEntries(Object.entries(hint).map(([key, item]) => [key, `${item}`]))
      : hint;
  return Object.fromEntries(Object.entries(value).map(([name, hint]) => [name, asText(name, hint)])) as Hints;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
