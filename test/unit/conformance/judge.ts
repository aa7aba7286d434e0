import { allCases } from '../../../src/conformance/cases';
import { ConformanceBench } from './bench';
import { type Falsified, falsify } from './falsify';
import type { Mutation } from './mutation';

/**
 * What the case of a mutation says of a driver with these lies: a driver of the mutation's kind, new for each, as what a lie
 * leaves behind is nobody else's.
 */
export async function judge({ id, kind = 'all' }: Mutation, lies: (bench: ConformanceBench) => Falsified) {
  const cases = allCases.filter((one) => one.id === id);
  const bench = await ConformanceBench.open(kind, id === 'P04' || id === 'P05');
  try {
    const { results } = await bench.run(cases, (honest) => falsify(honest, lies(bench)));
    return results.map(({ status, reason }) => [status, reason] as const);
  } finally {
    await bench.close();
  }
}

/** A test for each mutation: its case finds it. */
export function findsEach(mutations: readonly Mutation[]): void {
  // A case has many calls, on a machine that is busy.
  jest.setTimeout(180_000);

  test.each(mutations.map((mutation) => [mutation.id, mutation.wrong, mutation] as const))(
    '%s finds a driver that %s',
    async (_id, _wrong, mutation) => {
      expect(await judge(mutation, mutation.lies)).toEqual([['failed', expect.stringContaining('expected')]]);
    },
  );
}
