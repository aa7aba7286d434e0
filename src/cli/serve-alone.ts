import yargs, { type Argv } from 'yargs';
import { common, serveCommand } from './command-line';

/**
 * `serve` without the other commands, which would be loaded to be told apart. As yargs' default command it starts at once;
 * for any other one yargs first lays out the help that nobody asked for.
 */
export function serveAlone(options: readonly string[]): Argv {
  return common(yargs([...options]).scriptName('fake-csi serve'), () => 'serve ').command(serveCommand('$0'));
}
