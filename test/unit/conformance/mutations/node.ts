import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { mount } from '../../../../src/conformance/capability';
import type { Falsified } from '../falsify';
import type { Mutation } from '../mutation';

/** Refuses all targets of a volume but the first. */
const oneTarget = (): Falsified => {
  const targets = new Map<string, string>();
  return {
    NodePublishVolume: ({ next, request, refuse }) => {
      const { volume_id = '', target_path = '' } = request;
      const first = targets.get(volume_id) ?? target_path;
      targets.set(volume_id, first);
      return first === target_path ? next() : refuse('FAILED_PRECONDITION');
    },
  };
};

/** Says OK to whatever comes after the first OK. */
const gullible = (): Falsified => {
  let published = false;
  return {
    NodePublishVolume: async ({ next, ok }) => {
      if (published) return ok();
      const answer = await next();
      published = answer.code === 'OK';
      return answer;
    },
  };
};

/** Wrong on the node. */
export const nodeMutations: readonly Mutation[] = [
  {
    id: 'NS2',
    wrong: 'does not compare capabilities',
    lies: () => ({ NodeStageVolume: ({ next }) => next({ volume_capability: mount() }) }),
  },
  {
    id: 'NS3',
    wrong: 'stages for any capability',
    lies: () => ({ NodeStageVolume: ({ next }) => next({ volume_capability: mount() }) }),
  },
  {
    id: 'NS4',
    wrong: 'takes a relative path',
    lies: () => ({ NodeStageVolume: ({ ok }) => ok() }),
  },
  {
    id: 'NS5',
    wrong: 'makes the staging folder',
    lies: () => ({
      NodeStageVolume: async ({ next, request }) => {
        await fs.mkdir(request.staging_target_path ?? '', { recursive: true });
        return next();
      },
    }),
  },
  {
    id: 'NS5',
    wrong: 'makes a folder and fails',
    lies: () => ({
      NodeStageVolume: async ({ request, refuse }) => {
        await fs.mkdir(request.staging_target_path ?? '', { recursive: true });
        return refuse('INTERNAL');
      },
    }),
  },
  {
    id: 'NS7',
    wrong: 'says that a volume is staged, wherever that was',
    lies: () => ({ NodeStageVolume: ({ ok }) => ok() }),
  },
  {
    id: 'NU1',
    wrong: 'cannot unstage what is not staged',
    lies: () => {
      let calls = 0;
      return {
        NodeUnstageVolume: ({ next, refuse }) => {
          calls += 1;
          return calls === 3 ? refuse('NOT_FOUND') : next();
        },
      };
    },
  },
  {
    id: 'NU3',
    wrong: 'unstages what is published',
    lies: () => ({ NodeUnstageVolume: ({ ok }) => ok() }),
  },
  {
    id: 'NU4',
    wrong: 'removes the staging folder',
    lies: () => ({
      NodeUnstageVolume: async ({ next, request }) => {
        const answer = await next();
        await fs.rm(request.staging_target_path ?? '', { recursive: true, force: true });
        return answer;
      },
    }),
  },
  {
    id: 'NU4',
    wrong: 'leaves a file in the staging folder',
    lies: () => ({
      NodeUnstageVolume: async ({ next, request }) => {
        const answer = await next();
        await fs.writeFile(path.join(request.staging_target_path ?? '', 'vol.json'), '{}');
        return answer;
      },
    }),
  },
  {
    id: 'NP03',
    wrong: 'has an internal error for what is not there',
    lies: () => ({
      NodePublishVolume: ({ next, request, refuse }) =>
        request.volume_id?.includes('unknown') ? refuse('INTERNAL') : next(),
    }),
  },
  ...(['NP05', 'NP06', 'NP07', 'NP17'].map((id) => ({
    id,
    wrong: 'says that a volume is published, however that was',
    lies: gullible,
  })) satisfies Mutation[]),
  {
    id: 'NP07',
    wrong: 'makes a target and fails',
    lies: () => ({
      NodePublishVolume: async ({ next, request }) => {
        const answer = await next();
        await fs.mkdir(request.target_path ?? '', { recursive: true });
        return answer;
      },
    }),
  },
  ...(['NP08', 'NP09'].map((id) => ({
    id,
    wrong: 'publishes once, whatever the mode',
    lies: oneTarget,
  })) satisfies Mutation[]),
  {
    id: 'NP12',
    wrong: 'makes the parent of the target',
    lies: () => ({
      NodePublishVolume: async ({ next, request }) => {
        await fs.mkdir(path.dirname(request.target_path ?? ''), { recursive: true });
        return next();
      },
    }),
  },
  {
    id: 'NP13',
    wrong: 'has a file for a mount volume',
    lies: () => ({
      NodePublishVolume: async ({ request, ok }) => {
        await fs.writeFile(request.target_path ?? '', '');
        return ok();
      },
    }),
  },
  {
    id: 'NP13',
    wrong: 'has a folder for a block volume',
    lies: () => ({
      NodePublishVolume: async ({ request, ok }) => {
        await fs.mkdir(request.target_path ?? '');
        return ok();
      },
    }),
  },
  {
    id: 'NP14',
    wrong: 'leaves the target behind when it fails',
    lies: () => ({
      NodePublishVolume: async ({ next, request }) => {
        const answer = await next();
        if (answer.code !== 'OK') await fs.mkdir(request.target_path ?? '');
        return answer;
      },
    }),
  },
  {
    id: 'NP15',
    wrong: 'publishes for any capability',
    lies: () => ({ NodePublishVolume: ({ next }) => next({ volume_capability: mount() }) }),
  },
  {
    id: 'UP2',
    wrong: 'leaves the target behind',
    lies: () => ({
      NodeUnpublishVolume: async ({ next, request }) => {
        const answer = await next();
        await fs.mkdir(request.target_path ?? '', { recursive: true });
        return answer;
      },
    }),
  },
  {
    id: 'UP2',
    wrong: 'removes the parent of the target as well',
    lies: () => ({
      NodeUnpublishVolume: async ({ next, request }) => {
        const answer = await next();
        await fs.rm(path.dirname(request.target_path ?? ''), { recursive: true, force: true });
        return answer;
      },
    }),
  },
  {
    id: 'UP3',
    wrong: 'removes all that is at the target',
    lies: () => ({
      NodeUnpublishVolume: async ({ request, ok }) => {
        await fs.rm(request.target_path ?? '', { recursive: true, force: true });
        return ok();
      },
    }),
  },
  {
    id: 'UP5',
    wrong: 'has an internal error for what is not there',
    lies: () => ({ NodeUnpublishVolume: ({ refuse }) => refuse('INTERNAL') }),
  },
  {
    id: 'NG1',
    wrong: 'has stats of targets alone',
    lies: () => ({ NodeGetVolumeStats: ({ refuse }) => refuse('NOT_FOUND') }),
  },
  {
    id: 'NG3',
    wrong: 'has no stats, and so no condition',
    kind: 'few',
    lies: () => ({ NodeGetVolumeStats: ({ refuse }) => refuse('UNIMPLEMENTED') }),
  },
  {
    id: 'NG3',
    wrong: 'has no words for the condition',
    kind: 'few',
    lies: () => ({ NodeGetVolumeStats: ({ ok }) => ok({ volume_condition: {} }) }),
  },
  ...((
    [
      ['tells bytes twice', [bytes(10, 0, 10), bytes(10, 0, 10)]],
      ['tells no total', [bytes(0, 0, 0)]],
      ['tells a negative number', [bytes(10, -1, 10)]],
      ['uses more than there is', [bytes(10, 5, 6)]],
    ] as const
  ).map(([wrong, usage]) => ({
    id: 'NG4',
    wrong,
    lies: () => ({ NodeGetVolumeStats: ({ ok }) => ok({ usage }) }),
  })) satisfies Mutation[]),
  {
    id: 'NX1',
    wrong: 'expands what is not there',
    lies: () => ({ NodeExpandVolume: ({ ok }) => ok() }),
  },
  {
    id: 'NX2',
    wrong: 'insists on a size',
    lies: () => ({
      NodeExpandVolume: ({ next, request, refuse }) =>
        request.capacity_range ? next() : refuse('INVALID_ARGUMENT'),
    }),
  },
  {
    id: 'NX3',
    wrong: 'does not look at the limit',
    lies: () => ({ NodeExpandVolume: ({ next }) => next({ capacity_range: null }) }),
  },
  {
    id: 'NX4',
    wrong: 'expands once',
    lies: () => {
      let calls = 0;
      return {
        NodeExpandVolume: ({ next, refuse }) => {
          calls += 1;
          return calls > 1 ? refuse('OUT_OF_RANGE') : next();
        },
      };
    },
  },
];

function bytes(total: number, used: number, available: number) {
  return { unit: 1, total: `${total}`, used: `${used}`, available: `${available}` };
}
