import type { Mutation } from '../mutation';

const PUBLISH_UNPUBLISH_VOLUME = 2;
const EXPAND_VOLUME = { controller: 9, node: 3 };

/** Wrong in what a driver says about itself. */
export const identityMutations: readonly Mutation[] = [
  ...(['', '-dash', 'under_score', 'x'.repeat(64)].map((name) => ({
    id: 'I01',
    wrong: `has the name "${name}"`,
    lies: () => ({
      GetPluginInfo: ({ edit }) => edit((answer) => ({ ...answer, name })),
    }),
  })) satisfies Mutation[]),
  {
    id: 'I03',
    wrong: 'says one thing on the node and another in the controller',
    kind: 'split',
    lies: () => ({
      GetPluginCapabilities: ({ options, edit }) =>
        edit(({ capabilities }) => ({
          capabilities: options.endpoint === 'controller' ? capabilities.slice(1) : capabilities,
        })),
    }),
  },
  {
    id: 'I05',
    wrong: 'expands offline, and has no EXPAND_VOLUME',
    kind: 'offline',
    lies: () => ({
      ControllerGetCapabilities: ({ edit }) =>
        edit(({ capabilities }) => ({
          capabilities: capabilities.filter(({ rpc }) => rpc?.type !== EXPAND_VOLUME.controller),
        })),
    }),
  },
  {
    id: 'I05',
    wrong: 'expands online, and has no EXPAND_VOLUME',
    lies: () => ({
      ControllerGetCapabilities: ({ edit }) =>
        edit(({ capabilities }) => ({
          capabilities: capabilities.filter(({ rpc }) => rpc?.type !== EXPAND_VOLUME.controller),
        })),
      NodeGetCapabilities: ({ edit }) =>
        edit(({ capabilities }) => ({
          capabilities: capabilities.filter(({ rpc }) => rpc?.type !== EXPAND_VOLUME.node),
        })),
    }),
  },
  {
    id: 'I07',
    wrong: 'is not healthy and says UNAVAILABLE',
    honest: () => ({ Probe: ({ refuse }) => refuse('FAILED_PRECONDITION', 'the disk is gone') }),
    lies: () => ({ Probe: ({ refuse }) => refuse('UNAVAILABLE') }),
  },
  {
    id: 'I08',
    wrong: 'says that it is not ready, and serves calls',
    lies: () => ({ Probe: ({ ok }) => ok({ ready: { value: false } }) }),
  },
  {
    id: 'A01',
    wrong: 'lists published nodes, and attaches nothing',
    lies: () => ({
      ControllerGetCapabilities: ({ edit }) =>
        edit(({ capabilities }) => ({
          capabilities: capabilities.filter(({ rpc }) => rpc?.type !== PUBLISH_UNPUBLISH_VOLUME),
        })),
    }),
  },
  {
    id: 'GC13',
    wrong: 'has a group service that can do nothing',
    lies: () => ({ GroupControllerGetCapabilities: ({ ok }) => ok() }),
  },
  {
    id: 'NI2',
    wrong: 'has a topology that it does not advertise',
    kind: 'few',
    lies: () => ({
      NodeGetInfo: ({ edit }) =>
        edit((answer) => ({ ...answer, accessible_topology: { segments: { zone: 'a' } } })),
    }),
  },
];
