/** ` (did you mean "times"?)`, or nothing when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}

/** The candidate that a slip of the keyboard, of case or of `-` and `_` would turn into `word`. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // Nobody mistypes a name of a hundred letters, and the table below grows with the square.
  if (word.length > 64) return undefined;
  const wanted = fold(word);
  // Of two letters, any two are near each other.
  const allowed = wanted.length < 3 ? 0 : Math.floor(wanted.length / 3);
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, fold(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

const fold = (word: string): string => word.toLowerCase().replace(/[-_ ]/g, '');

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
