import { printable } from '../util/text';

export { table } from '../util/text';

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
