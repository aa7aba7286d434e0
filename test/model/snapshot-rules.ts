import { listing } from './controller-rules';
import { difference, Reasons, type Rules, type SnapshotReply } from './expectation';
import {
  drop,
  type Group,
  promised,
  publicationsOf,
  put,
  type Snapshot,
  type State,
  type Volume,
} from './state';

/** Snapshots, and groups of them (CSI 1.12, CreateSnapshot and Group Controller Service RPC). */
export const snapshotRules: Rules<
  | 'CreateSnapshot'
  | 'DeleteSnapshot'
  | 'GetSnapshot'
  | 'ListSnapshots'
  | 'GetMetadataAllocated'
  | 'CreateVolumeGroupSnapshot'
  | 'DeleteVolumeGroupSnapshot'
  | 'GetVolumeGroupSnapshot'
> = {
  CreateSnapshot(state, { s, v, dependent }, { plugin }) {
    const existing = state.snapshots.get(s);
    if (existing)
      return {
        refusals: existing.of === v ? [] : ['ALREADY_EXISTS'],
        next: state,
        complaint: (reply) => difference(replyOf(s, existing), reply),
      };
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: ['NOT_FOUND'] };
    const { size, fs, content } = volume;
    const snapshot: Snapshot = { of: v, size, fs, content, dependent, group: '' };
    return {
      refusals: new Reasons().when(promised(state) + size > plugin.pool, 'RESOURCE_EXHAUSTED').codes,
      next: put(state, 'snapshots', s, snapshot),
      complaint: (reply) => difference(replyOf(s, snapshot), reply),
    };
  },

  DeleteSnapshot(state, { s }) {
    const snapshot = state.snapshots.get(s);
    if (!snapshot) return { refusals: [], next: state };
    const used = [...state.volumes.values()].some((volume) => isRestoredFrom(s, volume));
    const { codes } = new Reasons()
      .when(snapshot.group !== '', 'INVALID_ARGUMENT')
      .when(snapshot.dependent && used, 'FAILED_PRECONDITION');
    return { refusals: codes, next: withoutSnapshot(state, s) };
  },

  GetSnapshot(state, { s }) {
    const snapshot = state.snapshots.get(s);
    if (!snapshot) return { refusals: ['NOT_FOUND'] };
    return { refusals: [], next: state, complaint: (reply) => difference(replyOf(s, snapshot), reply) };
  },

  ListSnapshots(state, { s, v }, { changing }) {
    const settled = ({ group }: { group: string }) => !changing.has(group);
    const expected = [...state.snapshots]
      .filter(([name, { of }]) => (s === '' || name === s) && (v === '' || of === v))
      .map(([name, snapshot]) => replyOf(name, snapshot));
    return {
      refusals: [],
      next: state,
      complaint: (found) => listing(expected.filter(settled), found.filter(settled), 's'),
    };
  },

  GetMetadataAllocated(state, { s }, { plugin }) {
    const snapshot = state.snapshots.get(s);
    if (!snapshot) return { refusals: ['NOT_FOUND'] };
    return {
      refusals: new Reasons().when(!plugin.disks, 'FAILED_PRECONDITION').codes,
      next: state,
      complaint: (reply) => difference({ size: snapshot.size }, reply),
    };
  },

  CreateVolumeGroupSnapshot(state, { g, vs }, { plugin }) {
    const reasons = new Reasons().when(new Set(vs).size < vs.length, 'INVALID_ARGUMENT');
    const existing = state.groups.get(g);
    if (existing) {
      const same = `${[...existing.sources].sort()}` === `${[...vs].sort()}`;
      return {
        refusals: reasons.when(!same, 'ALREADY_EXISTS').codes,
        next: state,
        complaint: (reply) => groupComplaint(state, g, existing, reply),
      };
    }
    let next = put(state, 'groups', g, { sources: vs });
    for (const v of vs) {
      const volume = state.volumes.get(v);
      reasons
        .when(!volume, 'NOT_FOUND')
        .when(volume && !volume.groupable, 'FAILED_PRECONDITION')
        .when(volume && vs.length > 1 && !canBeHeldStill(state, v, plugin.disks), 'FAILED_PRECONDITION');
      if (!volume) continue;
      const { size, fs, content } = volume;
      const member = { of: v, size, fs, content, dependent: false, group: g };
      next = put(next, 'snapshots', `${g}/${v}`, member);
    }
    reasons.when(promised(next) > plugin.pool, 'RESOURCE_EXHAUSTED');
    return {
      refusals: reasons.codes,
      next,
      complaint: (reply) => groupComplaint(next, g, { sources: vs }, reply),
    };
  },

  DeleteVolumeGroupSnapshot(state, { g, members }) {
    const group = state.groups.get(g);
    if (!group) return { refusals: [], next: state };
    let next = drop(state, 'groups', g);
    for (const s of membersOf(g, group)) next = withoutSnapshot(next, s);
    return { refusals: isOf(g, group, members) ? [] : ['INVALID_ARGUMENT'], next };
  },

  GetVolumeGroupSnapshot(state, { g, members }) {
    const group = state.groups.get(g);
    if (!group) return { refusals: ['NOT_FOUND'] };
    return {
      refusals: isOf(g, group, members) ? [] : ['INVALID_ARGUMENT'],
      next: state,
      complaint: (reply) => groupComplaint(state, g, group, reply),
    };
  },
};

/**
 * Several volumes are cut at one instant or not at all: a mounted filesystem can be frozen, a raw device that somebody
 * may be writing to and a folder in use cannot.
 */
function canBeHeldStill(state: State, v: string, disks: boolean): boolean {
  const stage = state.stages.get(v);
  if (!stage) return true;
  if (!disks) return false;
  return stage.access.type === 'mount' || stage.readOnly || publicationsOf(state, v).length === 0;
}

function replyOf(s: string, { of, size, group }: Snapshot): SnapshotReply {
  return { s, of, size, group, ready: true };
}

const isRestoredFrom = (s: string, { source, dependsOnSource }: Volume) =>
  dependsOnSource && source?.of === s;

/** A snapshot that gets the same name later is another one. */
function withoutSnapshot(state: State, s: string): State {
  let next = drop(state, 'snapshots', s);
  for (const [v, volume] of state.volumes)
    if (isRestoredFrom(s, volume)) next = put(next, 'volumes', v, { ...volume, dependsOnSource: false });
  return next;
}

const membersOf = (g: string, { sources }: Group) => sources.map((v) => `${g}/${v}`).sort();

const isOf = (g: string, group: Group, members: 'own' | string[]) =>
  `${membersOf(g, group)}` === `${[...members].sort()}`;

function groupComplaint(
  state: State,
  g: string,
  group: Group,
  reply: { g: string; ready: boolean; members: SnapshotReply[] },
): string | undefined {
  const members = membersOf(g, group).flatMap((s) => {
    const member = state.snapshots.get(s);
    return member ? [replyOf(s, member)] : [];
  });
  return difference({ g, ready: true }, reply) ?? listing(members, reply.members, 's');
}
