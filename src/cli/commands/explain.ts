import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { print, printJson } from '../output';

interface Arguments extends DriverArguments {
  call: number;
  process?: string;
}

export const explain: Command<Arguments> = {
  command: 'explain <call>',
  describe: 'Say which rules fired for a call, and why the others did not',
  builder: (y: Argv) =>
    y
      .positional('call', { type: 'number', demandOption: true, describe: 'Its number, as `calls` shows it' })
      .options({
        ...driverOptions,
        process: { type: 'string', describe: 'Where several processes have a call of that number' },
      })
      .example('$0 explain 117', 'did not fire: slow/first: volume.storageClass was "fast", wanted slow*'),
  run: async (args) => {
    const reply = await (await connect(args)).explain(args.call, args.process);
    if (args.json) return printJson(reply);
    const { explanationText } =
      require('../../scenarios/verdict/explain') as typeof import('../../scenarios/verdict/explain');
    print(explanationText(reply as never));
  },
};
