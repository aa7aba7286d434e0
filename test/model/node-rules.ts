import {
  difference,
  isMultiTarget,
  isReadOnly,
  isUpsideDown,
  Reasons,
  type Rules,
  sameAccess,
  serves,
} from './expectation';
import type { Operations } from './operations';
import { drop, type Plugin, promised, publicationsOf, put, type State } from './state';

/** One node's half of a volume's life (CSI 1.12, Node Service RPC). */
export const nodeRules: Rules<
  | 'NodeStageVolume'
  | 'NodeUnstageVolume'
  | 'NodePublishVolume'
  | 'NodeUnpublishVolume'
  | 'NodeGetVolumeStats'
  | 'NodeExpandVolume'
> = {
  NodeStageVolume(state, { v, at, access, context }, { plugin }) {
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: ['NOT_FOUND'] };
    const attachment = volume.attached[ownNode(plugin)];
    const readOnly = isReadOnly(access) || attachment?.readonly === true;
    const reasons = new Reasons()
      .when(!attachment || context === 'other', 'FAILED_PRECONDITION')
      .when(!serves(volume, access, plugin), 'FAILED_PRECONDITION');
    const staged = state.stages.get(v);
    if (staged) {
      const same = staged.readOnly === readOnly && sameAccess(staged.access, access);
      reasons.when(staged.at !== at, 'FAILED_PRECONDITION').when(!same, 'ALREADY_EXISTS');
      return { refusals: reasons.codes, next: state };
    }
    const wanted = access.fs || volume.fs || (plugin.filesystems[0] ?? '');
    const formatted = access.type === 'block' ? volume.content : volume.content || wanted;
    const kept = access.fs === '' || volume.source !== null || access.fs === formatted;
    reasons
      .when(isTaken(state, at, v), 'ALREADY_EXISTS')
      .when(access.type === 'mount' && volume.content !== '' && !kept, 'FAILED_PRECONDITION')
      .when(
        access.type === 'mount' && volume.content === '' && volume.size < plugin.smallest('mount', wanted),
        'FAILED_PRECONDITION',
      );
    const next = put(state, 'stages', v, { at, access, readOnly });
    const content = plugin.disks ? formatted : volume.content;
    return { refusals: reasons.codes, next: put(next, 'volumes', v, { ...volume, content }) };
  },

  NodeUnstageVolume(state, { v, at }) {
    const staged = state.stages.get(v);
    const reasons = new Reasons().when(mountedAt(state, at, v), 'FAILED_PRECONDITION');
    if (staged?.at !== at) return { refusals: reasons.codes, next: state };
    reasons.when(publicationsOf(state, v).length > 0, 'FAILED_PRECONDITION');
    return { refusals: reasons.codes, next: drop(state, 'stages', v) };
  },

  NodePublishVolume(state, operation, { plugin }) {
    const { v, at, target, access, readonly } = operation;
    const volume = state.volumes.get(v);
    if (!volume) return { refusals: ['NOT_FOUND'] };
    const reasons = new Reasons();
    const staged = state.stages.get(v);
    reasons
      .when(!serves(volume, access, plugin), 'FAILED_PRECONDITION')
      .when(staged?.at !== at || at === '', 'FAILED_PRECONDITION')
      .when(staged && staged.access.type !== access.type, 'FAILED_PRECONDITION')
      .when(clashes(state, operation), 'FAILED_PRECONDITION');
    const here = state.publications.get(target);
    const same =
      here !== undefined &&
      here.v === v &&
      here.at === at &&
      here.readonly === readonly &&
      sameAccess(here.access, access);
    reasons.when(here && !same, 'ALREADY_EXISTS');
    return { refusals: reasons.codes, next: put(state, 'publications', target, { v, at, access, readonly }) };
  },

  NodeUnpublishVolume(state, { v, target }) {
    const here = state.publications.get(target);
    if (!here) return { refusals: [], next: state };
    return {
      refusals: here.v === v ? [] : ['FAILED_PRECONDITION'],
      next: drop(state, 'publications', target),
    };
  },

  NodeGetVolumeStats(state, { v, path }) {
    const volume = state.volumes.get(v);
    if (!volume || !isAt(state, v, path)) return { refusals: ['NOT_FOUND'] };
    return {
      refusals: [],
      next: state,
      complaint: ({ total, abnormal }) => {
        if (abnormal) return 'volume_condition: abnormal';
        // A filesystem keeps some of its disk for itself, and a disk is whole blocks.
        return total > 0n && total < volume.size + 4096n
          ? undefined
          : `total: expected up to ${volume.size}, found ${total}`;
      },
    };
  },

  NodeExpandVolume(state, { v, path, range }, { plugin }) {
    const reasons = new Reasons().when(isUpsideDown(range), 'OUT_OF_RANGE');
    const volume = state.volumes.get(v);
    if (!volume || !isAt(state, v, path)) return { refusals: reasons.when(true, 'NOT_FOUND').codes };
    const size = range && range.required > volume.size ? range.required : volume.size;
    reasons
      .when(range !== null && range.limit > 0n && range.limit < size, 'OUT_OF_RANGE')
      .when(size > plugin.largest, 'OUT_OF_RANGE')
      .when(promised(state) + size - volume.size > plugin.pool, 'RESOURCE_EXHAUSTED')
      .when(state.stages.get(v)?.readOnly, 'FAILED_PRECONDITION');
    const stuck =
      !plugin.growsMountedExt4 && volume.content === 'ext4' && publicationsOf(state, v).length > 0;
    return {
      refusals: reasons.codes,
      orHalfDone: stuck ? 'FAILED_PRECONDITION' : undefined,
      next: put(state, 'volumes', v, { ...volume, size }),
      complaint: (reply) => difference({ size }, reply),
    };
  },
};

export const ownNode = ({ nodes }: Plugin) => Object.keys(nodes)[0] ?? '';

/** A staging path is one volume's on a node (CSI 1.12, NodeStageVolumeRequest.staging_target_path). */
function isTaken(state: State, at: string, besides: string): boolean {
  return [...state.stages].some(([v, stage]) => v !== besides && stage.at === at);
}

/** Whether another volume is mounted at a staging path. A raw device is not mounted there. */
function mountedAt(state: State, at: string, besides: string): boolean {
  return [...state.stages].some(
    ([v, stage]) => v !== besides && stage.at === at && stage.access.type === 'mount',
  );
}

function isAt(state: State, v: string, path: string): boolean {
  return state.stages.get(v)?.at === path || state.publications.get(path)?.v === v;
}

/** The table of a second NodePublishVolume: other targets of the volume on this node. */
function clashes(state: State, { v, target, access }: Operations['NodePublishVolume']): boolean {
  return publicationsOf(state, v).some(
    ([other, publication]) =>
      other !== target &&
      !(isMultiTarget(access) && isMultiTarget(publication.access) && sameAccess(access, publication.access)),
  );
}
