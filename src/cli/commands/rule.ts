import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { print, printJson, printReached } from '../output';

interface Arguments extends DriverArguments {
  rule: string;
  ttl?: string;
  name?: string;
  dryRun: boolean;
}

export const rule: Command<Arguments> = {
  command: 'rule <rule>',
  describe: 'Arm a rule written in one line',
  builder: (y: Argv) =>
    y
      .positional('rule', {
        type: 'string',
        demandOption: true,
        describe: 'RPC, conditions, a colon, and what happens',
      })
      .options({
        ...driverOptions,
        ttl: { type: 'string', describe: 'Time such as 10m after which it goes away by itself [never]' },
        name: { type: 'string', describe: 'Of the scenario it becomes [made up]' },
        'dry-run': {
          type: 'boolean',
          default: false,
          describe: 'Print the scenario it would become; needs no driver',
        },
      })
      .example(
        '$0 rule "NodeStageVolume pvc=db/data-0: 2*UNAVAILABLE(busy) -> 1*delay(20s) -> ok" --ttl 10m',
        'fails twice, is slow once, then works',
      )
      .example('$0 rule "ControllerPublishVolume: hang(release)"', 'until `fake-csi release`'),
  run: async (args) => {
    const { ttl, name } = args;
    const options = { ...(ttl !== undefined && { ttl }), ...(name !== undefined && { name }) };
    if (args.dryRun) {
      const { parseRule } = require('../../scenarios/language') as typeof import('../../scenarios/language');
      const parsed = parseRule(args.rule, {
        ...(name !== undefined && { name }),
        ...(ttl !== undefined && { expires: ttl }),
      });
      if (parsed.text === undefined)
        throw Object.assign(new Error('the rule is wrong'), { errors: parsed.problems });
      return print(parsed.text);
    }
    const reply = await (await connect(args)).rule(args.rule, options);
    if (args.json) printJson(reply);
    else printReached(`armed ${reply.name}; \`fake-csi scenario remove ${reply.name}\` takes it back`, reply);
  },
};
