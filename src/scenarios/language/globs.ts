/** One alternative of a glob: characters, with `*` and `?` told apart from their escaped selves. */
type Token = { readonly any: 'one' | 'many' } | { readonly char: string };

/** A test for all of a text. Time grows with text length times pattern length, however many stars there are. */
export function globTest(glob: string): (value: string) => boolean {
  if (isLiteral(glob)) {
    const literal = unescaped(glob);
    return (value) => value === literal;
  }
  const alternatives = tokens(glob);
  if (alternatives.length === 1 && alternatives[0]?.every((token) => 'any' in token && token.any === 'many'))
    return () => true;
  return (value) => alternatives.some((alternative) => matches(alternative, value));
}

/** Without `*`, `?` or `|` that is not escaped. */
export function isLiteral(glob: string): boolean {
  return !/[*?|]/.test(glob.replace(/\\./gs, ''));
}

export function unescaped(glob: string): string {
  return glob.replace(/\\(.)/gs, '$1');
}

function tokens(glob: string): Token[][] {
  let alternative: Token[] = [];
  const alternatives = [alternative];
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i] as string;
    if (char === '\\' && i + 1 < glob.length) alternative.push({ char: glob[++i] as string });
    else if (char === '*') alternative.push({ any: 'many' });
    else if (char === '?') alternative.push({ any: 'one' });
    else if (char === '|') {
      alternative = [];
      alternatives.push(alternative);
    } else alternative.push({ char });
  }
  return alternatives;
}

/** Only the last star can need another try, so that one position to come back to is enough. */
function matches(glob: readonly Token[], text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let starText = 0;
  while (t < text.length) {
    const token = glob[g];
    if (token !== undefined && 'any' in token && token.any === 'many') {
      star = g++;
      starText = t;
    } else if (token !== undefined && ('any' in token || token.char === text[t])) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++starText;
    } else return false;
  }
  return glob.slice(g).every((token) => 'any' in token && token.any === 'many');
}
