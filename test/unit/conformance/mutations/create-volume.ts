import { mount } from '../../../../src/conformance/capability';
import type { Mutation } from '../mutation';

const WRITER = 1;

/** Wrong in CreateVolume and DeleteVolume. */
export const volumeMutations: readonly Mutation[] = [
  {
    id: 'C02',
    wrong: 'has names of ASCII alone',
    lies: () => ({
      CreateVolume: ({ next, request, refuse }) =>
        /^[ -~]*$/.test(request.name ?? '') ? next() : refuse('INVALID_ARGUMENT'),
    }),
  },
  ...(['C03', 'C04'].map((id) => ({
    id,
    wrong: 'does not look at capacity_range',
    lies: () => ({ CreateVolume: ({ next }) => next({ capacity_range: null }) }),
  })) satisfies Mutation[]),
  {
    id: 'C06',
    wrong: 'takes a limit for what is required at least',
    lies: () => ({ CreateVolume: ({ next }) => next({ capacity_range: { required_bytes: `${2 ** 27}` } }) }),
  },
  {
    id: 'C07',
    wrong: 'has no size of its own',
    lies: () => ({
      CreateVolume: ({ next, request, refuse }) => (request.capacity_range ? next() : refuse('OUT_OF_RANGE')),
    }),
  },
  ...(['C09', 'C10'].map((id) => ({
    id,
    wrong: 'takes any capability',
    lies: () => ({ CreateVolume: ({ next }) => next({ volume_capabilities: [mount()] }) }),
  })) satisfies Mutation[]),
  {
    id: 'C12',
    wrong: 'has no SINGLE_NODE_WRITER any more',
    lies: () => ({
      CreateVolume: ({ next, request, refuse }) =>
        request.volume_capabilities?.some(({ access_mode }) => access_mode?.mode === WRITER)
          ? refuse('INVALID_ARGUMENT')
          : next(),
    }),
  },
  {
    id: 'C15',
    wrong: 'knows a volume by its name alone',
    lies: () => ({ CreateVolume: ({ next }) => next({ capacity_range: null }) }),
  },
  {
    id: 'C18',
    wrong: 'does not compare mutable_parameters',
    lies: () => ({ CreateVolume: ({ next }) => next({ mutable_parameters: {} }) }),
  },
  {
    id: 'C19',
    wrong: 'does not compare sources',
    lies: () => ({ CreateVolume: ({ next }) => next({ volume_content_source: null }) }),
  },
  {
    id: 'C21',
    wrong: 'compares secrets',
    lies: () => ({
      CreateVolume: ({ next, request, refuse }) =>
        request.secrets?.conformance ? refuse('ALREADY_EXISTS') : next(),
    }),
  },
  {
    id: 'C22',
    wrong: 'remembers volumes that are deleted',
    lies: () => {
      let first: ReturnType<typeof Promise.resolve> | undefined;
      return {
        CreateVolume: ({ next }) => {
          first ??= next();
          return first as ReturnType<typeof next>;
        },
      };
    },
  },
  {
    id: 'C23',
    wrong: 'leaves accessibility_requirements alone',
    kind: 'few',
    lies: () => ({ CreateVolume: ({ next }) => next({ accessibility_requirements: null }) }),
  },
  {
    id: 'C24',
    wrong: 'makes volumes anywhere',
    lies: () => ({ CreateVolume: ({ next }) => next({ accessibility_requirements: null }) }),
  },
  {
    id: 'C27',
    wrong: 'does not look at preferred',
    lies: () => ({
      CreateVolume: ({ next, request }) =>
        next({
          accessibility_requirements: {
            ...request.accessibility_requirements,
            preferred: request.accessibility_requirements?.requisite ?? [],
          },
        }),
    }),
  },
  {
    id: 'C28',
    wrong: 'tells a topology that it does not advertise',
    kind: 'few',
    lies: () => ({
      CreateVolume: ({ edit }) =>
        edit(({ volume }) => ({
          volume: { ...volume, accessible_topology: [{ segments: { zone: 'a' } }] },
        })),
    }),
  },
  {
    id: 'C29',
    wrong: 'leaves mutable_parameters alone',
    kind: 'few',
    lies: () => ({ CreateVolume: ({ next }) => next({ mutable_parameters: {} }) }),
  },
  {
    id: 'C30',
    wrong: 'prefers parameters',
    lies: () => ({
      CreateVolume: ({ next, request }) =>
        next({ mutable_parameters: { ...request.mutable_parameters, ...request.parameters } }),
    }),
  },
  ...((
    [
      ['C31', 'few'],
      ['C32', 'all'],
      ['C36', 'all'],
    ] as const
  ).map(([id, kind]) => ({
    id,
    kind,
    wrong: 'makes an empty volume, whatever the source',
    lies: () => ({ CreateVolume: ({ next }) => next({ volume_content_source: null }) }),
  })) satisfies Mutation[]),
  {
    id: 'C33',
    wrong: 'makes volumes as large as their source, whatever the limit',
    lies: () => ({
      CreateVolume: ({ next, request }) =>
        next(request.volume_content_source ? { capacity_range: null } : {}),
    }),
  },
  {
    id: 'C34',
    wrong: 'makes volumes as large as their source, whatever is required',
    lies: () => ({
      CreateVolume: ({ next, request }) =>
        next(request.volume_content_source ? { capacity_range: null } : {}),
    }),
  },
  {
    id: 'C38',
    wrong: 'has another context each time',
    lies: () => {
      let calls = 0;
      return {
        CreateVolume: ({ edit }) =>
          edit(({ volume }) => {
            calls += 1;
            return { volume: { ...volume, volume_context: { call: `${calls}` } } };
          }),
      };
    },
  },
  {
    id: 'C38',
    wrong: 'puts secrets into volume_context',
    lies: () => ({
      CreateVolume: ({ edit, request }) =>
        edit(({ volume }) => ({ volume: { ...volume, volume_context: request.secrets } })),
    }),
  },
  {
    id: 'D01',
    wrong: 'deletes what is attached',
    lies: () => ({ DeleteVolume: ({ ok }) => ok() }),
  },
  {
    id: 'D02',
    wrong: 'deletes what is mounted',
    kind: 'few',
    lies: () => ({ DeleteVolume: ({ ok }) => ok() }),
  },
  {
    id: 'D03',
    wrong: 'cannot delete what is not there',
    lies: () => {
      const seen = new Set<string>();
      return {
        DeleteVolume: ({ next, request, refuse }) => {
          const known = seen.has(request.volume_id ?? '');
          seen.add(request.volume_id ?? '');
          return known ? refuse('NOT_FOUND') : next();
        },
      };
    },
  },
];
