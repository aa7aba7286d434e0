import { mount } from '../../../../src/conformance/capability';
import type { Call, Falsified } from '../falsify';
import type { Mutation } from '../mutation';

type Repeatable = 'CreateVolume' | 'CreateSnapshot' | 'CreateVolumeGroupSnapshot';

/** Makes something new for each call of one name. */
const forgetful = (method: Repeatable) => (): Falsified => {
  let calls = 0;
  const lie = <M extends Repeatable>({ next, request }: Call<M>) => {
    calls += 1;
    return next({ name: `${request.name} ${calls}` });
  };
  return { [method]: lie };
};

/** Works once, and has no answer for a repeat. */
const onlyOnce =
  (method: 'NodeStageVolume' | 'NodePublishVolume' | 'NodeUnpublishVolume') => (): Falsified => {
    let calls = 0;
    const lie = <M extends typeof method>({ next, refuse }: Call<M>) => {
      calls += 1;
      return calls > 1 ? refuse('INTERNAL') : next();
    };
    return { [method]: lie };
  };

/** Wrong in what the first list of cases left out. */
export const furtherMutations: readonly Mutation[] = [
  {
    id: 'C01',
    wrong: 'takes any name',
    lies: () => ({ CreateVolume: ({ next }) => next({ name: 'a name' }) }),
  },
  {
    id: 'C05',
    wrong: 'does not look at the limit',
    lies: () => ({ CreateVolume: ({ next }) => next({ capacity_range: { required_bytes: `${2 ** 26}` } }) }),
  },
  {
    id: 'C11',
    wrong: 'makes volumes for nothing',
    lies: () => ({ CreateVolume: ({ next }) => next({ volume_capabilities: [mount()] }) }),
  },
  { id: 'C14', wrong: 'makes another volume for a repeat', lies: forgetful('CreateVolume') },
  {
    id: 'C17',
    wrong: 'does not compare parameters',
    lies: () => ({ CreateVolume: ({ next }) => next({ parameters: {} }) }),
  },
  {
    id: 'C35',
    wrong: 'makes an empty volume, whatever the source',
    lies: () => ({ CreateVolume: ({ next }) => next({ volume_content_source: null }) }),
  },
  {
    id: 'P02',
    wrong: 'attaches to any node',
    lies: () => ({ ControllerPublishVolume: ({ next }) => next({ node_id: 'node-1' }) }),
  },
  {
    id: 'P04',
    wrong: 'attaches a single writer twice',
    lies: () => ({ ControllerPublishVolume: ({ ok }) => ok() }),
  },
  {
    id: 'U02',
    wrong: 'detaches from nowhere when no node is named',
    lies: () => ({
      ControllerUnpublishVolume: ({ next, request, ok }) => (request.node_id ? next() : ok()),
    }),
  },
  {
    id: 'V03',
    wrong: 'has an internal error for what is not there',
    lies: () => ({ ValidateVolumeCapabilities: ({ refuse }) => refuse('INTERNAL') }),
  },
  {
    id: 'L04',
    wrong: 'takes any token for the beginning',
    lies: () => ({ ListVolumes: ({ next }) => next({ starting_token: '' }) }),
  },
  {
    id: 'G01',
    wrong: 'has an answer for what is not there',
    lies: () => ({ ControllerGetVolume: ({ ok }) => ok() }),
  },
  {
    id: 'E04',
    wrong: 'tells the old size',
    lies: () => ({ ControllerExpandVolume: ({ ok }) => ok({ capacity_bytes: `${2 ** 26}` }) }),
  },
  { id: 'S02', wrong: 'cuts another snapshot for a repeat', lies: forgetful('CreateSnapshot') },
  {
    id: 'S02',
    wrong: 'tells no creation_time',
    lies: () => ({
      CreateSnapshot: ({ edit }) =>
        edit(({ snapshot }) => ({ snapshot: { ...snapshot, creation_time: null } })),
    }),
  },
  { id: 'S04', wrong: 'does not compare sources', lies: forgetful('CreateSnapshot') },
  {
    id: 'X01',
    wrong: 'deletes a member of a group',
    lies: () => ({ DeleteSnapshot: ({ ok }) => ok() }),
  },
  {
    id: 'Y01',
    wrong: 'falls over a negative number',
    lies: () => ({ ListSnapshots: ({ refuse }) => refuse('UNAVAILABLE') }),
  },
  { id: 'GC03', wrong: 'makes another group for a repeat', lies: forgetful('CreateVolumeGroupSnapshot') },
  { id: 'GC04', wrong: 'does not compare sources', lies: forgetful('CreateVolumeGroupSnapshot') },
  { id: 'NS1', wrong: 'stages once', lies: onlyOnce('NodeStageVolume') },
  {
    id: 'NS8',
    wrong: 'stages what is not there',
    lies: () => ({ NodeStageVolume: ({ ok }) => ok() }),
  },
  {
    id: 'NP02',
    wrong: 'needs no stage',
    lies: () => ({
      NodePublishVolume: ({ request, next, ok }) => (request.staging_target_path ? next() : ok()),
    }),
  },
  {
    id: 'NP04',
    wrong: 'publishes for nothing',
    lies: () => ({ NodePublishVolume: ({ next }) => next({ volume_capability: mount() }) }),
  },
  { id: 'NP01', wrong: 'publishes once', lies: onlyOnce('NodePublishVolume') },
  { id: 'UP1', wrong: 'unpublishes once', lies: onlyOnce('NodeUnpublishVolume') },
  {
    id: 'NG2',
    wrong: 'has stats of any path',
    lies: () => ({ NodeGetVolumeStats: ({ ok }) => ok({ usage: [{ unit: 1, total: '10' }] }) }),
  },
  {
    id: 'SM03',
    wrong: 'starts at the beginning, wherever it is to start',
    lies: () => ({ GetMetadataAllocated: ({ next }) => next({ starting_offset: '0' }) }),
  },
];
