import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { printJson, printReached } from '../output';

interface Arguments extends DriverArguments {
  scenario?: string;
  mark?: string;
}

export const reset: Command<Arguments> = {
  command: 'reset [scenario]',
  describe: 'Let go of everything, heal what rules did, count from nothing',
  builder: (y: Argv) =>
    y
      .positional('scenario', { type: 'string', describe: 'That one alone' })
      .options({
        ...driverOptions,
        mark: { type: 'string', describe: 'Set this mark in the journal right after, for `--since`' },
      })
      .example('$0 reset --mark begin', 'a clean slate, and a name for it'),
  run: async (args) => {
    const { scenario, mark } = args;
    const reply = await (await connect(args)).reset({
      ...(scenario !== undefined && { scenario }),
      ...(mark !== undefined && { mark }),
    });
    if (args.json) printJson(reply);
    else printReached(`reset ${scenario ?? 'every scenario'}`, reply);
  },
};
