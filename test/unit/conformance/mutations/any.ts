import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Mutation } from '../mutation';

const asNumber = (bytes: string | undefined) => `${BigInt(Number(bytes))}`;

/** Wrong in what holds for every RPC. */
export const anyMutations: readonly Mutation[] = [
  {
    id: 'T01',
    wrong: 'validates a request that it does not serve',
    kind: 'few',
    lies: () => ({ ControllerPublishVolume: ({ refuse }) => refuse('INVALID_ARGUMENT') }),
  },
  {
    id: 'T02',
    wrong: 'gives no reason',
    lies: () => ({ DeleteVolume: ({ refuse }) => refuse('INVALID_ARGUMENT', '') }),
  },
  {
    id: 'T03',
    wrong: 'sends details',
    lies: () => ({
      DeleteVolume: ({ refuse }) => refuse('INTERNAL', 'it is broken', ['grpc-status-details-bin']),
    }),
  },
  {
    id: 'T04',
    wrong: 'has a code of its own',
    lies: () => ({ DeleteVolume: ({ refuse }) => refuse('code 99') }),
  },
  {
    id: 'T05',
    wrong: 'cuts names to 100 characters',
    lies: () => ({ CreateVolume: ({ next, request }) => next({ name: request.name?.slice(0, 100) }) }),
  },
  {
    id: 'T05',
    wrong: 'has names of 100 bytes at most',
    lies: () => ({
      CreateVolume: ({ next, request, refuse }) =>
        (request.name ?? '').length > 100 ? refuse('INVALID_ARGUMENT') : next(),
    }),
  },
  {
    id: 'T07',
    wrong: 'does not look at the size of volume_context',
    lies: () => ({ ControllerPublishVolume: ({ next }) => next({ volume_context: {} }) }),
  },
  {
    id: 'T09',
    wrong: 'falls over a long path',
    lies: () => ({
      NodePublishVolume: ({ next, request, refuse }) =>
        (request.target_path ?? '').length > 4096 ? refuse('UNAVAILABLE') : next(),
    }),
  },
  {
    id: 'T09',
    wrong: 'cuts long paths',
    lies: () => ({ NodePublishVolume: ({ ok }) => ok() }),
  },
  {
    id: 'T10',
    wrong: 'takes secrets of any name',
    lies: () => ({ DeleteVolume: ({ next }) => next({ secrets: {} }) }),
  },
  {
    id: 'T11',
    wrong: 'repeats secrets in errors',
    lies: () => ({
      CreateSnapshot: ({ request, refuse }) =>
        refuse('NOT_FOUND', `no volume for ${JSON.stringify(request)}`),
    }),
  },
  {
    id: 'T11',
    wrong: 'logs requests as they come',
    lies: (bench) => ({
      DeleteVolume: ({ next, request }) => {
        bench.traces += JSON.stringify(request);
        return next();
      },
    }),
  },
  {
    id: 'T12',
    wrong: 'logs mount flags',
    lies: (bench) => ({
      NodeStageVolume: ({ next, request }) => {
        bench.traces += JSON.stringify(request.volume_capability);
        return next();
      },
    }),
  },
  {
    id: 'T13',
    wrong: 'lists volumes to anybody',
    kind: 'secrets',
    lies: () => ({ DeleteVolume: ({ next }) => next({ secrets: { user: 'admin' } }) }),
  },
  {
    id: 'T13',
    wrong: 'takes missing secrets for a wrong argument',
    kind: 'secrets',
    lies: () => ({
      DeleteVolume: ({ next, request, refuse }) =>
        Object.keys(request.secrets ?? {}).length === 0 ? refuse('INVALID_ARGUMENT') : next(),
    }),
  },
  {
    id: 'T15',
    wrong: 'makes a volume for each of several calls at once',
    lies: () => {
      let calls = 0;
      return {
        CreateVolume: ({ next, request }) => {
          calls += 1;
          return next({ name: `${request.name} ${calls}` });
        },
      };
    },
  },
  {
    id: 'T15',
    wrong: 'has no answer for a stage that is under way',
    lies: () => {
      let calls = 0;
      return {
        NodeStageVolume: ({ next, refuse }) => {
          calls += 1;
          return calls === 2 ? refuse('INTERNAL') : next();
        },
      };
    },
  },
  {
    id: 'T16',
    wrong: 'stages one volume after another',
    lies: () => {
      let before: Promise<unknown> = Promise.resolve();
      return {
        NodeStageVolume: ({ next }) => {
          const answer = before.then(() => next());
          before = answer;
          return answer;
        },
      };
    },
  },
  {
    id: 'T18',
    wrong: 'refuses what it does not know',
    lies: () => ({
      ListVolumes: ({ next, options, refuse }) => (options.extra ? refuse('INVALID_ARGUMENT') : next()),
    }),
  },
  {
    id: 'T19',
    wrong: 'counts bytes in doubles',
    lies: () => ({
      CreateVolume: ({ edit }) =>
        edit(({ volume }) => ({
          volume: { ...volume, capacity_bytes: asNumber(volume?.capacity_bytes) },
        })),
    }),
  },
  {
    id: 'T19',
    wrong: 'counts bytes in doubles when it expands',
    lies: () => ({
      ControllerExpandVolume: ({ edit }) =>
        edit((answer) => ({ ...answer, capacity_bytes: asNumber(answer.capacity_bytes) })),
    }),
  },
  {
    id: 'T21',
    wrong: 'ends as if all were well',
    lies: (bench) => {
      bench.runDriver = async () => ({ code: 0, stderr: '' });
      return {};
    },
  },
  {
    id: 'T21',
    wrong: 'goes on without a socket',
    lies: (bench) => {
      bench.runDriver = async () => undefined;
      return {};
    },
  },
  {
    id: 'T22',
    wrong: 'keeps a lock beside its socket',
    lies: (bench) => ({
      CreateVolume: async ({ next }) => {
        await fs.writeFile(path.join(path.dirname(bench.socket), 'csi.lock'), '');
        return next();
      },
    }),
  },
];
