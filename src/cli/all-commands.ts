import yargs, { type Argv } from 'yargs';
import { common, serveCommand } from './command-line';
import { commands } from './commands';

export function allCommands(words: readonly string[]): Argv {
  const [first = ''] = words;
  const known = ['serve', ...commands.map(({ command }) => `${command}`.split(' ')[0])];
  return common(yargs([...words]).scriptName('fake-csi'), () => (known.includes(first) ? `${first} ` : ''))
    .usage('$0 <command>\n\nA CSI driver that behaves perfectly until you tell it not to.')
    .command(serveCommand('serve'))
    .command([...commands])
    .completion('completion', 'Print a script that completes commands in bash or zsh')
    .demandCommand(1, 'Expected a command; `fake-csi serve` runs the driver.')
    .recommendCommands();
}
