import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { print, printJson } from '../output';

interface Arguments extends DriverArguments {
  scenario: string;
  machine: string;
  state: string;
}

export const machine: Command<Arguments> = {
  command: 'machine <scenario> <machine> <state>',
  describe: 'Put a machine of a scenario into a state',
  builder: (y: Argv) =>
    y
      .positional('scenario', { type: 'string', demandOption: true })
      .positional('machine', { type: 'string', demandOption: true })
      .positional('state', { type: 'string', demandOption: true })
      .options(driverOptions),
  run: async (args) => {
    const reply = await (await connect(args)).setMachine(args.scenario, args.machine, args.state);
    if (args.json) printJson(reply);
    else print(`${args.scenario}: ${args.machine} is ${args.state}`);
  },
};
