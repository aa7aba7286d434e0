import type { MODE } from '../support/lifecycle';

/** A volume's access as a call asks for it. */
export interface Access {
  type: 'mount' | 'block';
  mode: keyof typeof MODE;
  /** '' leaves the choice to the plugin. */
  fs: string;
  flags: string[];
}

/** Bytes asked for; 0 leaves the bound open. */
export interface Range {
  required: bigint;
  limit: bigint;
}

export type Source = { kind: 'volume' | 'snapshot'; of: string };

/**
 * The calls that a sequence is made of, by what they ask for. Things go by the names that a sequence gives them:
 * volumes `v0…`, snapshots `s0…` (a group's member: `g0/v1`), groups `g0…`, staging paths `a…`, targets `t0…`.
 */
export interface Operations {
  CreateVolume: {
    v: string;
    range: Range | null;
    access: Access[];
    groupable: boolean;
    protect: boolean;
    source: Source | null;
  };
  DeleteVolume: { v: string };
  ControllerPublishVolume: { v: string; node: string; access: Access; readonly: boolean };
  ControllerUnpublishVolume: { v: string; node: string };
  ValidateVolumeCapabilities: { v: string; access: Access };
  ControllerGetVolume: { v: string };
  ControllerExpandVolume: { v: string; range: Range; access: Access | null };
  ControllerModifyVolume: { v: string; changes: Record<string, string> };
  ListVolumes: { max: number };
  GetCapacity: object;
  CreateSnapshot: { s: string; v: string; dependent: boolean };
  DeleteSnapshot: { s: string };
  GetSnapshot: { s: string };
  ListSnapshots: { max: number; s: string; v: string };
  GetMetadataAllocated: { s: string };
  CreateVolumeGroupSnapshot: { g: string; vs: string[] };
  /** `members`: `own` stands for those that the group was last seen with. */
  DeleteVolumeGroupSnapshot: { g: string; members: 'own' | string[] };
  GetVolumeGroupSnapshot: { g: string; members: 'own' | string[] };
  /** `context`: whose publish_context is sent. */
  NodeStageVolume: { v: string; at: string; access: Access; context: 'none' | 'own' | 'other' };
  NodeUnstageVolume: { v: string; at: string };
  NodePublishVolume: { v: string; at: string; target: string; access: Access; readonly: boolean };
  NodeUnpublishVolume: { v: string; target: string };
  NodeGetVolumeStats: { v: string; path: string };
  NodeExpandVolume: { v: string; path: string; range: Range | null };
}

export type Rpc = keyof Operations;
export type Operation<R extends Rpc = Rpc> = { [K in R]: { rpc: K } & Operations[K] }[R];

/** One step of a sequence. */
export type Step =
  | { kind: 'call'; operation: Operation }
  /** All sent before any is answered. */
  | { kind: 'together'; operations: Operation[] }
  /** The next page of a listing that goes on from step to step, while things change. */
  | { kind: 'page'; of: 'volumes' | 'snapshots'; max: number }
  | { kind: 'restart'; killed: boolean };

/** What an operation is about: two that share a subject may be refused ABORTED while they run together. */
export function subjects(operation: Operation): string[] {
  const found: string[] = [];
  const one = (kind: string, name: string | undefined) => {
    if (name !== undefined && name !== '') found.push(`${kind} ${name}`);
  };
  const fields = operation as Partial<{ v: string; s: string; g: string; at: string; target: string }>;
  if (operation.rpc === 'ListSnapshots') return found;
  one('volume', fields.v);
  one('snapshot', fields.s);
  one('group', fields.g);
  one('target', fields.target);
  one('staging path', fields.at);
  if (operation.rpc === 'CreateVolume' && operation.source) one(operation.source.kind, operation.source.of);
  if (operation.rpc === 'CreateVolumeGroupSnapshot')
    for (const v of operation.vs) {
      one('volume', v);
      one('snapshot', `${operation.g}/${v}`);
    }
  if (operation.rpc === 'DeleteVolumeGroupSnapshot') for (const s of operation.members) one('snapshot', s);
  return found;
}

/** A step as people read it. */
export function show(value: unknown): string {
  const words = JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? Number(field) : field));
  return words.replace(/"([A-Za-z_]+)":/g, '$1:').replace(/"/g, "'");
}
