import { Coalesced } from '../../../src/util/coalesced';

/** Work that ends when the test says so. */
function steered() {
  const ends: ((error?: Error) => void)[] = [];
  const work = () =>
    new Promise<void>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve()));
    });
  return { ends, coalesced: new Coalesced(work) };
}

describe('Coalesced', () => {
  it('serves all who asked before a run began, and runs anew for who came later', async () => {
    const { ends, coalesced } = steered();
    const first = coalesced.run();
    const later = [coalesced.run(), coalesced.run(), coalesced.run()];
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await Promise.all(later);
    expect(ends).toHaveLength(2);
  });

  it('tells a failure to those it failed only', async () => {
    const { ends, coalesced } = steered();
    const first = coalesced.run();
    const later = coalesced.run();
    ends[0]?.(new Error('disk'));
    await expect(first).rejects.toThrow('disk');
    await new Promise((resolve) => setImmediate(resolve));
    ends[1]?.();
    await expect(later).resolves.toBeUndefined();
    const again = coalesced.run();
    ends[2]?.();
    await again;
  });
});
