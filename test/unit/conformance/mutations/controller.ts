import { mount } from '../../../../src/conformance/capability';
import type { Mutation } from '../mutation';

/** Wrong in the rest of the Controller service, but for snapshots. */
export const controllerMutations: readonly Mutation[] = [
  {
    id: 'P01',
    wrong: 'has another publish_context each time',
    lies: () => {
      let calls = 0;
      return {
        ControllerPublishVolume: ({ edit }) =>
          edit(() => {
            calls += 1;
            return { publish_context: { call: `${calls}` } };
          }),
      };
    },
  },
  {
    id: 'P05',
    wrong: 'attaches to one node whatever the mode',
    lies: () => ({
      ControllerPublishVolume: ({ next, request, refuse }) =>
        request.node_id === 'node-2' ? refuse('FAILED_PRECONDITION') : next(),
    }),
  },
  {
    id: 'P06',
    wrong: 'attaches beyond the limit of the node',
    lies: () => ({
      ControllerPublishVolume: async ({ next, ok }) => {
        const answer = await next();
        return answer.code === 'RESOURCE_EXHAUSTED' ? ok() : answer;
      },
    }),
  },
  {
    id: 'P08',
    wrong: 'counts what is detached',
    lies: () => ({ ControllerUnpublishVolume: ({ ok }) => ok() }),
  },
  ...(['P09', 'P12'].map((id) => ({
    id,
    wrong: 'attaches for any capability',
    lies: () => ({ ControllerPublishVolume: ({ next }) => next({ volume_capability: mount() }) }),
  })) satisfies Mutation[]),
  {
    id: 'P10',
    wrong: 'does not look at volume_context',
    lies: () => ({ ControllerPublishVolume: ({ next }) => next({ volume_context: {} }) }),
  },
  {
    id: 'P11',
    wrong: 'insists on volume_context',
    lies: () => ({
      ControllerPublishVolume: ({ next, request, refuse }) =>
        Object.keys(request.volume_context ?? {}).length === 0 ? refuse('INVALID_ARGUMENT') : next(),
    }),
  },
  {
    id: 'U01',
    wrong: 'cannot detach from a node that is not there',
    lies: () => ({
      ControllerUnpublishVolume: ({ next, request, refuse }) =>
        request.node_id === 'node-1' ? next() : refuse('NOT_FOUND'),
    }),
  },
  {
    id: 'V01',
    wrong: 'confirms everything',
    lies: () => ({ ValidateVolumeCapabilities: ({ next }) => next({ volume_capabilities: [mount()] }) }),
  },
  {
    id: 'V01',
    wrong: 'does not say why it confirms nothing',
    lies: () => ({ ValidateVolumeCapabilities: ({ ok }) => ok() }),
  },
  {
    id: 'V02',
    wrong: 'confirms the first capability alone',
    lies: () => ({
      ValidateVolumeCapabilities: ({ next, request }) =>
        next({ volume_capabilities: request.volume_capabilities?.slice(0, 1) }),
    }),
  },
  {
    id: 'V04',
    wrong: 'does not look at context and parameters',
    lies: () => ({ ValidateVolumeCapabilities: ({ next }) => next({ volume_context: {}, parameters: {} }) }),
  },
  {
    id: 'L01',
    wrong: 'takes -1 for no limit',
    lies: () => ({ ListVolumes: ({ next }) => next({ max_entries: 0 }) }),
  },
  {
    id: 'L02',
    wrong: 'makes no pages',
    lies: () => ({ ListVolumes: ({ next }) => next({ max_entries: 0 }) }),
  },
  {
    id: 'L02',
    wrong: 'gives the first page again and again',
    lies: () => ({ ListVolumes: ({ next }) => next({ starting_token: '' }) }),
  },
  {
    id: 'L02',
    wrong: 'leaves out the last page',
    lies: () => ({ ListVolumes: ({ edit }) => edit((answer) => ({ ...answer, next_token: '' })) }),
  },
  {
    id: 'L03',
    wrong: 'gives a token for a page that is not there',
    lies: () => ({
      ListVolumes: ({ edit, request }) =>
        edit((answer) => ({ ...answer, next_token: request.max_entries ? 'more' : '' })),
    }),
  },
  {
    id: 'L05',
    wrong: 'falls over a token that has grown old',
    lies: () => ({
      ListVolumes: ({ next, request, refuse }) => (request.starting_token ? refuse('INTERNAL') : next()),
    }),
  },
  {
    id: 'L06',
    wrong: 'has one empty node id where nothing is attached',
    lies: () => ({
      ListVolumes: ({ edit }) =>
        edit(({ entries, next_token }) => ({
          next_token,
          entries: entries.map((entry) => ({
            ...entry,
            status: {
              ...entry.status,
              published_node_ids: entry.status?.published_node_ids.length
                ? entry.status.published_node_ids
                : [''],
            },
          })),
        })),
    }),
  },
  {
    id: 'L06',
    wrong: 'has no status',
    lies: () => ({
      ListVolumes: ({ edit }) =>
        edit(({ entries }) => ({ entries: entries.map(({ volume }) => ({ volume })) })),
    }),
  },
  {
    id: 'G02',
    wrong: 'has no status',
    lies: () => ({ ControllerGetVolume: ({ edit }) => edit(({ volume }) => ({ volume })) }),
  },
  {
    id: 'G02',
    wrong: 'has no condition',
    lies: () => ({
      ControllerGetVolume: ({ edit }) =>
        edit(({ volume, status }) => ({ volume, status: { ...status, volume_condition: null } })),
    }),
  },
  {
    id: 'M01',
    wrong: 'takes nothing for something',
    lies: () => ({ ControllerModifyVolume: ({ ok }) => ok() }),
  },
  {
    id: 'M03',
    wrong: 'resets what is not mentioned',
    lies: () => ({
      ControllerModifyVolume: ({ next, request }) =>
        next({ mutable_parameters: { deletionProtection: 'true', ...request.mutable_parameters } }),
    }),
  },
  {
    id: 'M04',
    wrong: 'modifies once',
    lies: () => {
      let calls = 0;
      return {
        ControllerModifyVolume: ({ next, refuse }) => {
          calls += 1;
          return calls > 1 ? refuse('ALREADY_EXISTS') : next();
        },
      };
    },
  },
  {
    id: 'K02',
    wrong: 'has room for what it cannot make',
    lies: () => ({ GetCapacity: ({ next }) => next({ volume_capabilities: [], parameters: {} }) }),
  },
  {
    id: 'K03',
    wrong: 'makes volumes smaller than is required',
    lies: () => ({ CreateVolume: ({ next }) => next({ capacity_range: { required_bytes: '67108864' } }) }),
  },
  {
    id: 'K03',
    wrong: 'tells a larger size than it makes',
    lies: () => ({
      GetCapacity: ({ edit }) =>
        edit((answer) => ({
          ...answer,
          available_capacity: `${2n ** 62n}`,
          maximum_volume_size: { value: `${2n ** 62n}` },
        })),
    }),
  },
  {
    id: 'E01',
    wrong: 'expands by nothing',
    lies: () => ({
      ControllerExpandVolume: ({ next, request }) =>
        next({ capacity_range: request.capacity_range ?? { required_bytes: '1' } }),
    }),
  },
  {
    id: 'E02',
    wrong: 'has an internal error for what is not there',
    lies: () => ({ ControllerExpandVolume: ({ refuse }) => refuse('INTERNAL') }),
  },
  {
    id: 'E03',
    wrong: 'refuses to do what is done',
    lies: () => ({
      ControllerExpandVolume: ({ next, request, refuse }) =>
        BigInt(`${request.capacity_range?.required_bytes}`) < 67108864n ? refuse('OUT_OF_RANGE') : next(),
    }),
  },
  {
    id: 'E03',
    wrong: 'tells the size that was asked for',
    lies: () => ({
      ControllerExpandVolume: ({ edit, request }) =>
        edit((answer) => ({ ...answer, capacity_bytes: request.capacity_range?.required_bytes })),
    }),
  },
  {
    id: 'E05',
    wrong: 'expands what is in use',
    kind: 'offline',
    lies: () => ({ ControllerExpandVolume: ({ ok }) => ok({ capacity_bytes: `${2 ** 27}` }) }),
  },
  {
    id: 'E08',
    wrong: 'asks for a NodeExpandVolume that is not there',
    kind: 'few',
    lies: () => ({
      ControllerExpandVolume: ({ edit }) => edit((answer) => ({ ...answer, node_expansion_required: true })),
    }),
  },
];
