import type { Access, Source } from './operations';

export interface Volume {
  size: bigint;
  types: readonly Access['type'][];
  /** Named when it was made; '' when nobody did. */
  fs: string;
  /** What the disk is formatted with; '' while it is blank. */
  content: string;
  groupable: boolean;
  /** As CreateVolume asked, which a repeat is compared with. */
  askedProtection: boolean;
  protection: boolean;
  source: Source | null;
  /** The snapshot that it was restored from is there still. */
  dependsOnSource: boolean;
  attached: Readonly<Record<string, { readonly: boolean; access: Access }>>;
}

export interface Snapshot {
  of: string;
  size: bigint;
  fs: string;
  content: string;
  dependent: boolean;
  group: string;
}

export interface Group {
  sources: readonly string[];
}

export interface Stage {
  at: string;
  access: Access;
  readOnly: boolean;
}

export interface Publication {
  v: string;
  at: string;
  access: Access;
  readonly: boolean;
}

/** Everything a plugin and its one node may know, by the names of a sequence. Never changed, only replaced. */
export interface State {
  volumes: ReadonlyMap<string, Volume>;
  snapshots: ReadonlyMap<string, Snapshot>;
  groups: ReadonlyMap<string, Group>;
  /** By volume. */
  stages: ReadonlyMap<string, Stage>;
  /** By target. */
  publications: ReadonlyMap<string, Publication>;
}

export const EMPTY: State = {
  volumes: new Map(),
  snapshots: new Map(),
  groups: new Map(),
  stages: new Map(),
  publications: new Map(),
};

/** What the specification leaves to a plugin, as the one under test has it. */
export interface Plugin {
  /** Bytes to give away to volumes and snapshots. */
  pool: bigint;
  defaultSize: bigint;
  largest: bigint;
  /** Attachments that each known node takes; 0 is no limit. The first one is the node under test. */
  nodes: Readonly<Record<string, number>>;
  types: readonly Access['type'][];
  /** The first one is the default. */
  filesystems: readonly string[];
  /** Bytes that a volume of that filesystem ('' the default) or of a raw device needs. */
  smallest(type: Access['type'], fs: string): bigint;
  /** Volumes are disks, with blocks and a device each; otherwise they are folders. */
  disks: boolean;
  /** Whether this machine lets a mounted ext4 grow (CAP_SYS_RESOURCE); it is unmounted for it unless it is published. */
  growsMountedExt4: boolean;
  /** Whether NodeExpandVolume has anything to do. */
  nodeGrows: boolean;
}

type Table = 'volumes' | 'snapshots' | 'groups' | 'stages' | 'publications';
type Row<T extends Table> = State[T] extends ReadonlyMap<string, infer R> ? R : never;

/** The state with one row more, or another one in its place. */
export function put<T extends Table>(state: State, table: T, key: string, row: Row<T>): State {
  return { ...state, [table]: new Map<string, unknown>(state[table]).set(key, row) };
}

export function drop(state: State, table: Table, key: string): State {
  const rows = new Map<string, unknown>(state[table]);
  rows.delete(key);
  return { ...state, [table]: rows };
}

export const publicationsOf = (state: State, v: string) =>
  [...state.publications].filter(([, publication]) => publication.v === v);

export function promised(state: State): bigint {
  let bytes = 0n;
  for (const { size } of state.volumes.values()) bytes += size;
  for (const { size } of state.snapshots.values()) bytes += size;
  return bytes;
}

/** Equal for equal states, whatever the order in which they came about. */
export function fingerprint(state: State): string {
  const tables = Object.values(state).map((table: ReadonlyMap<string, unknown>) =>
    [...table].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return JSON.stringify(tables, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
}
