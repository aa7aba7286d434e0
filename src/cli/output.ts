/** Rows under a head, as wide as they need to be. Nothing a terminal would take for a command gets through. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** `3 calls`, `1 call`, `2 processes`. */
export function counted(count: number, noun: string): string {
  const ending = count === 1 ? '' : noun.endsWith('s') ? 'es' : 's';
  return `${count} ${noun}${ending}`;
}

/** What was done, and which processes on the data folder do not know of it yet; on stderr, since it is no answer. */
export function printReached(
  done: string,
  { unreachable }: { readonly unreachable: readonly string[] },
): void {
  print(done);
  if (unreachable.length > 0)
    process.stderr.write(
      `fake-csi: ${counted(unreachable.length, 'process')} did not answer, and will follow when possible: ${unreachable.map(printable).join(', ')}\n`,
    );
}

export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const CONTROLS = /\p{Cc}/gu;
