import type { CodeName } from '../../src/csi/status';
import type { Access, Operation, Operations, Range, Rpc } from './operations';
import type { Plugin, State, Volume } from './state';

/** What the specification says about one call in one state. */
export interface Expectation<R extends Rpc = Rpc> {
  /**
   * Every reason to refuse it. None: it must succeed. Otherwise it must be refused with one of them: which one comes
   * first is the plugin's own affair. A refused call changes nothing.
   */
  refusals: CodeName[];
  /** Refused with this code after all, for a reason of the machine's, which may have kept it half done. */
  orHalfDone?: CodeName | undefined;
  /** The state after it succeeded. */
  next?: State;
  /** What is wrong with a reply of success; undefined when nothing is. */
  complaint?(reply: Replies[R]): string | undefined;
}

export interface VolumeReply {
  v: string;
  size: bigint;
  source: string;
}

export interface SnapshotReply {
  s: string;
  of: string;
  size: bigint;
  group: string;
  ready: boolean;
}

/** Replies in the names of the sequence; of RPCs that are not here, only success matters. */
export interface Replies extends Record<Rpc, unknown> {
  CreateVolume: VolumeReply;
  ControllerPublishVolume: { sameContext: boolean };
  ValidateVolumeCapabilities: { confirmed: boolean; message: string };
  ControllerGetVolume: VolumeReply & { nodes: string[]; abnormal: boolean };
  ControllerExpandVolume: { size: bigint; nodeExpansion: boolean };
  ListVolumes: (VolumeReply & { nodes: string[] })[];
  GetCapacity: { available: bigint };
  CreateSnapshot: SnapshotReply;
  GetSnapshot: SnapshotReply;
  ListSnapshots: SnapshotReply[];
  GetMetadataAllocated: { size: bigint };
  CreateVolumeGroupSnapshot: { g: string; ready: boolean; members: SnapshotReply[] };
  GetVolumeGroupSnapshot: { g: string; ready: boolean; members: SnapshotReply[] };
  NodeGetVolumeStats: { total: bigint; abnormal: boolean };
  NodeExpandVolume: { size: bigint };
}

/** What goes on beside a call. */
export interface Surroundings {
  plugin: Plugin;
  /** Groups that other calls of the same moment make or remove: their members come and go one by one. */
  changing: ReadonlySet<string>;
}

export type Rule<R extends Rpc> = (
  state: State,
  operation: { rpc: R } & Operations[R],
  surroundings: Surroundings,
) => Expectation<R>;

export type Rules<R extends Rpc = Rpc> = { [K in R]: Rule<K> };

/** One call and what came of it. */
export interface Observation {
  operation: Operation;
  code: CodeName | 'OK';
  message: string;
  reply: unknown;
}

/** Gathers reasons: `reasons.when(condition, code)`. */
export class Reasons {
  readonly codes: CodeName[] = [];

  when(condition: boolean | undefined, code: CodeName): this {
    if (condition) this.codes.push(code);
    return this;
  }
}

/** A raw device has no flags of a mount. */
export const isReadOnly = ({ type, mode, flags }: Access) =>
  /_READER_ONLY$/.test(mode) || (type === 'mount' && flags.includes('ro'));
export const isMultiNode = ({ mode }: Access) => mode.startsWith('MULTI_NODE');
export const isMultiTarget = (access: Access) =>
  isMultiNode(access) || access.mode === 'SINGLE_NODE_MULTI_WRITER';

/** Whether a volume can be used in such a way at all. */
export const serves = ({ types }: Volume, { type, fs }: Access, { filesystems }: Plugin) =>
  types.includes(type) && (type === 'block' || fs === '' || filesystems.includes(fs));

export function sameAccess(a: Access, b: Access): boolean {
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}

/** A raw device has no filesystem and no flags, whatever a sequence says of them. */
const plain = ({ type, mode, fs, flags }: Access) =>
  type === 'block' ? [type, mode] : [type, mode, fs, flags];

export const isUpsideDown = (range: Range | null) =>
  range !== null && range.limit > 0n && range.limit < range.required;

/** The first field in which two things differ, in words. */
export function difference(expected: object, found: object): string | undefined {
  for (const [field, value] of Object.entries(expected)) {
    const other = (found as Record<string, unknown>)[field];
    if (text(value) !== text(other)) return `${field}: expected ${text(value)}, found ${text(other)}`;
  }
  return undefined;
}

const text = (value: unknown) =>
  JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? `${field}` : field)) ?? 'nothing';
