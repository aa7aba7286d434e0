/**
 * Whether `*` (any text) and `?` (one character) in `glob` can stand for what `text` has there. Walks back to the last
 * star only, so that no pattern takes longer than the product of both lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let g = 0;
  while (at < text.length) {
    if (glob[g] === '*') {
      star = g;
      g += 1;
      resume = at;
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === text[at])) {
      g += 1;
      at += 1;
    } else if (star >= 0) {
      g = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
}
