import {
  difference,
  type Expectation,
  isMultiNode,
  isUpsideDown,
  Reasons,
  type Rules,
  sameAccess,
  serves,
  type VolumeReply,
} from './expectation';
import type { Access, Operations } from './operations';
import { drop, type Plugin, promised, put, type State, type Volume } from './state';

type Create = Operations['CreateVolume'];

/** What the Controller service does with volumes (CSI 1.12, Controller Service RPC). */
export const controllerRules: Rules<
  | 'CreateVolume'
  | 'DeleteVolume'
  | 'ControllerPublishVolume'
  | 'ControllerUnpublishVolume'
  | 'ValidateVolumeCapabilities'
  | 'ControllerGetVolume'
  | 'ControllerExpandVolume'
  | 'ControllerModifyVolume'
  | 'ListVolumes'
  | 'GetCapacity'
> = {
  CreateVolume(state, create, { plugin }) {
    const volume = state.volumes.get(create.v);
    return volume ? createdAgain(state, create, volume) : created(state, create, plugin);
  },

  DeleteVolume(state, { v }) {
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: [], next: state };
    const needed = [...state.snapshots.values()].some(({ of, dependent }) => of === v && dependent);
    const inUse = Object.keys(volume.attached).length > 0 || state.stages.has(v) || needed;
    const { codes } = new Reasons().when(inUse || volume.protection, 'FAILED_PRECONDITION');
    return { refusals: codes, next: drop(state, 'volumes', v) };
  },

  ControllerPublishVolume(state, { v, node, access, readonly }, { plugin }) {
    const volume = state.volumes.get(v);
    const limit = plugin.nodes[node];
    const reasons = new Reasons().when(!volume || limit === undefined, 'NOT_FOUND');
    if (!volume || limit === undefined) return { refusals: reasons.codes };
    const complaint = ({ sameContext }: { sameContext: boolean }) =>
      sameContext ? undefined : 'publish_context: another one than before';
    const present = volume.attached[node];
    if (present) {
      const same = present.readonly === readonly && sameAccess(present.access, access);
      return { refusals: same ? [] : ['ALREADY_EXISTS'], next: state, complaint };
    }
    const others = Object.values(volume.attached);
    const exclusive = [access, ...others.map((other) => other.access)].some((one) => !isMultiNode(one));
    const onNode = [...state.volumes.values()].filter(({ attached }) => attached[node]).length;
    reasons
      .when(!serves(volume, access, plugin), 'FAILED_PRECONDITION')
      .when(others.length > 0 && exclusive, 'FAILED_PRECONDITION')
      .when(limit > 0 && onNode >= limit, 'RESOURCE_EXHAUSTED');
    const attached = { ...volume.attached, [node]: { readonly, access } };
    return { refusals: reasons.codes, next: put(state, 'volumes', v, { ...volume, attached }), complaint };
  },

  ControllerUnpublishVolume(state, { v, node }) {
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: [], next: state };
    const kept = Object.entries(volume.attached).filter(([other]) => node !== '' && other !== node);
    const next = put(state, 'volumes', v, { ...volume, attached: Object.fromEntries(kept) });
    return { refusals: [], next };
  },

  ValidateVolumeCapabilities(state, { v, access }, { plugin }) {
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: ['NOT_FOUND'] };
    const served = serves(volume, access, plugin);
    return {
      refusals: [],
      next: state,
      complaint: ({ confirmed, message }) =>
        confirmed !== served
          ? `confirmed: expected ${served}`
          : !confirmed && message === ''
            ? 'message: expected a reason'
            : undefined,
    };
  },

  ControllerGetVolume(state, { v }) {
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: ['NOT_FOUND'] };
    const expected = { ...replyOf(v, volume), nodes: nodesOf(volume), abnormal: false };
    return { refusals: [], next: state, complaint: (reply) => difference(expected, reply) };
  },

  ControllerExpandVolume(state, { v, range, access }, { plugin }) {
    const reasons = new Reasons().when(isUpsideDown(range), 'OUT_OF_RANGE');
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: reasons.when(true, 'NOT_FOUND').codes };
    const size = range.required > volume.size ? range.required : volume.size;
    reasons
      .when(access !== null && !serves(volume, access, plugin), 'INVALID_ARGUMENT')
      .when(range.limit > 0n && range.limit < size, 'OUT_OF_RANGE')
      .when(size > plugin.largest, 'OUT_OF_RANGE')
      .when(promised(state) + size - volume.size > plugin.pool, 'RESOURCE_EXHAUSTED');
    return {
      refusals: reasons.codes,
      next: put(state, 'volumes', v, { ...volume, size }),
      complaint: (reply) => difference({ size, nodeExpansion: plugin.nodeGrows }, reply),
    };
  },

  ControllerModifyVolume(state, { v, changes }) {
    const bad = Object.keys(changes).length === 0 || Object.hasOwn(changes, 'unknown');
    const reasons = new Reasons().when(bad, 'INVALID_ARGUMENT');
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: reasons.when(true, 'NOT_FOUND').codes };
    const protection = (changes.deletionProtection ?? `${volume.protection}`) === 'true';
    return { refusals: reasons.codes, next: put(state, 'volumes', v, { ...volume, protection }) };
  },

  ListVolumes: (state) => ({
    refusals: [],
    next: state,
    complaint: (found) =>
      listing(
        [...state.volumes].map(([v, volume]) => ({ ...replyOf(v, volume), nodes: nodesOf(volume) })),
        found,
        'v',
      ),
  }),

  GetCapacity: (state, _operation, { plugin }) => ({
    refusals: [],
    next: state,
    complaint: (reply) => difference({ available: plugin.pool - promised(state) }, reply),
  }),
};

function created(state: State, create: Create, plugin: Plugin): Expectation<'CreateVolume'> {
  const { v, range, source } = create;
  const types = [...new Set(create.access.map(({ type }) => type))];
  const named = [...new Set(create.access.filter(isNamed).map(({ fs }) => fs))];
  const from = source && (source.kind === 'volume' ? state.volumes : state.snapshots).get(source.of);
  const reasons = new Reasons()
    .when(isUpsideDown(range), 'OUT_OF_RANGE')
    .when(named.length > 1, 'INVALID_ARGUMENT')
    .when(!types.every((type) => plugin.types.includes(type)), 'INVALID_ARGUMENT')
    .when(!named.every((fs) => plugin.filesystems.includes(fs)), 'INVALID_ARGUMENT')
    .when(source !== null && !from, 'NOT_FOUND');
  if (reasons.codes.length > 0) return { refusals: reasons.codes };
  const fs = from?.fs || (named[0] ?? '');
  const floor = [from?.size ?? 0n, ...types.map((type) => plugin.smallest(type, fs))];
  const { required = 0n, limit = 0n } = range ?? {};
  const wished = required || least(plugin.defaultSize, plugin.largest, limit || plugin.largest);
  const size = floor.reduce((a, b) => (a > b ? a : b), wished);
  reasons
    .when(limit > 0n && size > limit, 'OUT_OF_RANGE')
    .when(size > plugin.largest, 'OUT_OF_RANGE')
    .when(promised(state) + size > plugin.pool, 'RESOURCE_EXHAUSTED');
  const volume: Volume = {
    size,
    types,
    fs,
    content: from?.content ?? '',
    groupable: create.groupable,
    askedProtection: create.protect,
    protection: create.protect,
    source,
    dependsOnSource: source?.kind === 'snapshot',
    attached: {},
  };
  return {
    refusals: reasons.codes,
    next: put(state, 'volumes', v, volume),
    complaint: (reply) => difference(replyOf(v, volume), reply),
  };
}

/** The same name again must be answered with the same volume, or refused for being another one. */
function createdAgain(state: State, create: Create, volume: Volume): Expectation<'CreateVolume'> {
  const { v, range, access, source } = create;
  const { required = 0n, limit = 0n } = range ?? {};
  const compatible =
    required <= volume.size &&
    (limit === 0n || limit >= volume.size) &&
    access.every(({ type }) => volume.types.includes(type)) &&
    access.filter(isNamed).every(({ fs }) => volume.source !== null || fs === volume.fs) &&
    create.groupable === volume.groupable &&
    create.protect === volume.askedProtection &&
    JSON.stringify(source) === JSON.stringify(volume.source);
  const several = new Set(access.filter(isNamed).map(({ fs }) => fs)).size > 1;
  const { codes } = new Reasons()
    .when(isUpsideDown(range), 'OUT_OF_RANGE')
    .when(several && !compatible, 'INVALID_ARGUMENT')
    .when(!compatible, 'ALREADY_EXISTS');
  return { refusals: codes, next: state, complaint: (reply) => difference(replyOf(v, volume), reply) };
}

const isNamed = ({ type, fs }: Access) => type === 'mount' && fs !== '';
const least = (...values: bigint[]) => values.reduce((a, b) => (a < b ? a : b));

function replyOf(v: string, { size, source }: Volume): VolumeReply {
  return { v, size, source: source ? `${source.kind} ${source.of}` : '' };
}

const nodesOf = ({ attached }: Volume) => Object.keys(attached).sort();

/** A whole listing against what there is, in any order. */
export function listing<T extends object>(
  expected: readonly T[],
  found: readonly object[],
  key: keyof T,
): string | undefined {
  const names = (rows: readonly object[]) => rows.map((row) => `${(row as T)[key]}`).sort();
  const wrong = difference({ entries: names(expected) }, { entries: names(found) });
  if (wrong !== undefined) return wrong;
  for (const row of expected) {
    const same = found.find((other) => (other as T)[key] === row[key]);
    const problem = same && difference(row, same);
    if (problem !== undefined) return `${row[key]}: ${problem}`;
  }
  return undefined;
}
