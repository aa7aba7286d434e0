import { allCases } from '../../../src/conformance/cases';
import { ConformanceBench, KINDS, type Kind } from './bench';
import { judge } from './judge';
import { allMutations } from './mutations';

test('every case has a driver that fails it', () => {
  const without = allCases.filter(({ id }) => !allMutations.some((mutation) => mutation.id === id));
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
      const wanted = allMutations.filter(
        (mutation) => (mutation.kind ?? 'all') === kind && mutation.honest === undefined,
      );
      expect(passed).toEqual(expect.arrayContaining(wanted.map(({ id }) => id)));
    } finally {
      await bench.close();
    }
  });
});

const helped = allMutations.filter(({ honest }) => honest !== undefined);
test.each(helped.map((mutation) => [mutation.id, mutation] as const))(
  '%s passes where it applies',
  async (_id, mutation) => {
    const { honest = () => ({}) } = mutation;
    expect(await judge(mutation, honest)).toEqual([['passed', '']]);
  },
);
