import { forEachLimited } from '../../../src/util/parallel';

describe('forEachLimited', () => {
  it('does everything, at most so much at once', async () => {
    let running = 0;
    let most = 0;
    const done: number[] = [];
    await forEachLimited([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      done.push(item);
    });
    expect([most, done.sort()]).toEqual([3, [1, 2, 3, 4, 5, 6, 7]]);
  });

  it('begins nothing after a failure, and throws the first when the running ones have ended', async () => {
    const begun: number[] = [];
    let ended = false;
    const work = forEachLimited([1, 2, 3, 4], 2, async (item) => {
      begun.push(item);
      if (item === 1) throw new Error('first');
      await new Promise((resolve) => setImmediate(resolve));
      ended = true;
      throw new Error('second');
    });
    await expect(work).rejects.toThrow('first');
    expect([begun, ended]).toEqual([[1, 2], true]);
  });

  it('has nothing to do with nothing', async () => {
    await forEachLimited([], 4, () => Promise.reject(new Error('never')));
  });
});
