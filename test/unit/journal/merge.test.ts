import fc from 'fast-check';
import { merge, mergeAll, type TimelineEntry } from '../../../src/journal/merge';

const entry = (process: string, seq: number, ms: number): TimelineEntry => ({
  process,
  seq,
  at: new Date(1_700_000_000_000 + ms).toISOString(),
  mono: ms,
  type: 'event',
  event: 'x',
  details: {},
});

const processes = fc
  .array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 }), { maxLength: 5 })
  .map((all) => all.map((times, p) => times.map((ms, i) => entry(`p${p}`, i + 1, ms))));

async function* stream(entries: TimelineEntry[]) {
  yield* entries;
}

async function collect(sources: AsyncIterable<TimelineEntry>): Promise<TimelineEntry[]> {
  const all: TimelineEntry[] = [];
  for await (const one of sources) all.push(one);
  return all;
}

describe('merge', () => {
  it('keeps the order of every process, whatever its clock does, and loses nothing', async () => {
    await fc.assert(
      fc.asyncProperty(processes, async (sources) => {
        const merged = await collect(merge(sources.map(stream)));
        for (const [p, source] of sources.entries())
          expect(merged.filter(({ process }) => process === `p${p}`)).toEqual(source);
        expect(merged).toHaveLength(sources.flat().length);
        expect(mergeAll(sources)).toEqual(merged);
      }),
    );
  });

  it('is in the order of time where clocks only go forward', async () => {
    await fc.assert(
      fc.asyncProperty(processes, async (sources) => {
        const sorted = sources.map((source) => {
          const times = source.map(({ mono }) => mono).sort((a, b) => a - b);
          return source.map(({ process, seq }, i) => entry(process, seq, times[i] ?? 0));
        });
        const times = (await collect(merge(sorted.map(stream)))).map(({ at }) => at);
        expect(times).toEqual([...times].sort());
      }),
    );
  });
});
