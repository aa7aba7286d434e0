import { allCases } from '../../../src/conformance/cases';
import { ConformanceBench, KINDS, type Kind } from './bench';
import { type Falsified, falsify } from './falsify';
import type { Mutation } from './mutation';
import { anyMutations } from './mutations/any';
import { controllerMutations } from './mutations/controller';
import { volumeMutations } from './mutations/create-volume';
import { furtherMutations } from './mutations/further';
import { identityMutations } from './mutations/identity';
import { nodeMutations } from './mutations/node';
import { snapshotMutations } from './mutations/snapshots';

const mutations: readonly Mutation[] = [
  ...anyMutations,
  ...identityMutations,
  ...volumeMutations,
  ...controllerMutations,
  ...snapshotMutations,
  ...nodeMutations,
  ...furtherMutations,
];

const casesOf = (id: string) => allCases.filter((one) => one.id === id);

/** A driver of the kind, new for each: what a lie leaves behind is nobody else's. */
async function judge({ id, kind = 'all' }: Mutation, lies: (bench: ConformanceBench) => Falsified) {
  const bench = await ConformanceBench.open(kind, id === 'P04' || id === 'P05');
  try {
    const { results } = await bench.run(casesOf(id), (honest) => falsify(honest, lies(bench)));
    return results.map(({ status, reason }) => [status, reason] as const);
  } finally {
    await bench.close();
  }
}

test('every case has a driver that fails it', () => {
  const without = allCases.filter(({ id }) => !mutations.some((mutation) => mutation.id === id));
  expect(without.map(({ id }) => id)).toEqual([]);
});

// All cases, one after another, on a machine that is busy.
jest.setTimeout(180_000);

describe.each(Object.keys(KINDS) as Kind[])('the honest driver of the kind %s', (kind) => {
  test('passes every case that some other one of the kind fails, and fails none', async () => {
    const bench = await ConformanceBench.open(kind);
    try {
      const { results } = await bench.run(allCases);
      expect(results.filter(({ status }) => status === 'failed').map(({ reason }) => reason)).toEqual([]);
      expect(results.flatMap(({ leftBehind }) => leftBehind)).toEqual([]);
      const passed = results.filter(({ status }) => status === 'passed').map((result) => result.case.id);
      const wanted = mutations.filter(
        (mutation) => (mutation.kind ?? 'all') === kind && mutation.honest === undefined,
      );
      expect(passed).toEqual(expect.arrayContaining(wanted.map(({ id }) => id)));
    } finally {
      await bench.close();
    }
  });
});

const helped = mutations.filter(({ honest }) => honest !== undefined);
test.each(helped.map((mutation) => [mutation.id, mutation] as const))(
  '%s passes where it applies',
  async (_id, mutation) => {
    const { honest = () => ({}) } = mutation;
    expect(await judge(mutation, honest)).toEqual([['passed', '']]);
  },
);

test.each(mutations.map((mutation) => [mutation.id, mutation.wrong, mutation] as const))(
  '%s finds a driver that %s',
  async (_id, _wrong, mutation) => {
    expect(await judge(mutation, mutation.lies)).toEqual([['failed', expect.stringContaining('expected')]]);
  },
);
