import { Code } from '../../../src/csi/status';
import { page } from '../../../src/services/paging';
import { keyOf } from '../../../src/util/keys';

const items = (...sequences: number[]) =>
  sequences.map((sequence) => ({ sequence, id: `volume-${sequence}` }));
const numbers = ({ entries }: { entries: { sequence: number }[] }) => entries.map((entry) => entry.sequence);

describe('page', () => {
  it('gives everything when no limit is named', () => {
    expect(page('volumes', items(1, 2, 5), 0, '')).toEqual({ entries: items(1, 2, 5), nextToken: '' });
    expect(page('volumes', [], 3, '')).toEqual({ entries: [], nextToken: '' });
  });

  it.each([
    [1, [[1], [2], [4], [9]]],
    [3, [[1, 2, 4], [9]]],
    [4, [[1, 2, 4, 9]]],
    [5, [[1, 2, 4, 9]]],
  ])('walks through pages of %d, with a token while there is more', (size, expected) => {
    const found: number[][] = [];
    let token = '';
    do {
      const answer = page('volumes', items(1, 2, 4, 9), size, token);
      found.push(numbers(answer));
      token = answer.nextToken;
    } while (token !== '');
    expect(found).toEqual(expected);
  });

  it('goes on behind the last entry, whatever was deleted or added meanwhile', () => {
    const { nextToken } = page('volumes', items(1, 2, 3, 4), 2, '');
    expect(numbers(page('volumes', items(3, 4, 5), 0, nextToken))).toEqual([3, 4, 5]);
    expect(numbers(page('volumes', items(1, 5), 0, nextToken))).toEqual([5]);
    expect(numbers(page('volumes', [], 0, nextToken))).toEqual([]);
  });

  it('tells entries of one number apart, which two processes gave', () => {
    const same = ['a', 'b', 'c', 'd'].map((id) => ({ id, sequence: 7 }));
    const ordered = same.sort((a, b) => (keyOf(a.id) < keyOf(b.id) ? -1 : 1));
    for (const size of [1, 2, 3]) {
      const found: { id: string }[] = [];
      let token = '';
      do {
        const answer = page('volumes', ordered, size, token);
        found.push(...answer.entries);
        token = answer.nextToken;
      } while (token !== '');
      expect(found).toEqual(ordered);
    }
  });

  it('begins anywhere in a token of 128 bytes or less', () => {
    const { nextToken } = page(
      'snapshots',
      items(Number.MAX_SAFE_INTEGER - 1e15, 999_999_999_999_999),
      1,
      '',
    );
    expect(Buffer.byteLength(nextToken)).toBeLessThanOrEqual(128);
  });

  const { nextToken: foreign } = page('snapshots', items(1, 2), 1, '');
  const { nextToken: own } = page('volumes', items(1, 2), 1, '');
  it.each([
    ['a word', 'x'],
    ['a number', '1'],
    ['a token of another listing', foreign],
    ['another number', `2${own.slice(1)}`],
    ['more behind it', `${own}0`],
    ['white space', ` ${own}`],
  ])('aborts on %s, which it never gave', (_what, token) => {
    expect(() => page('volumes', items(1, 2), 0, token)).toThrow(
      expect.objectContaining({ code: Code.ABORTED }),
    );
  });
});
