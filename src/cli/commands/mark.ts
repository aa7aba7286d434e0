import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { print, printJson } from '../output';

interface Arguments extends DriverArguments {
  name: string;
}

export const mark: Command<Arguments> = {
  command: 'mark <name>',
  describe: 'Set a mark in the journal, for --since and `since:`',
  builder: (y: Argv) =>
    y.positional('name', { type: 'string', demandOption: true, describe: 'Its name' }).options(driverOptions),
  run: async (args) => {
    const reply = await (await connect(args)).mark(args.name);
    if (args.json) printJson(reply);
    else print(`marked ${reply.name} at ${reply.at}`);
  },
};
