import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { counted, printJson, printReached } from '../output';

interface Arguments extends DriverArguments {
  scenario?: string;
}

export const release: Command<Arguments> = {
  command: 'release [scenario]',
  describe: 'Let go of every hung call, or of those of one scenario',
  builder: (y: Argv) =>
    y.positional('scenario', { type: 'string', describe: 'Its name' }).options(driverOptions),
  run: async (args) => {
    const reply = await (await connect(args)).release(args.scenario);
    if (args.json) printJson(reply);
    else printReached(`let go of ${counted(reply.released, 'call')}`, reply);
  },
};
