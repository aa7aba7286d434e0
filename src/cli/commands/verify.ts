import { writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { type Command, UsageError } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { EXIT } from '../exit-codes';
import { print, printJson } from '../output';
import { textOf } from './scenario';

interface Arguments extends DriverArguments {
  file?: string;
  scenario?: string;
  wait: string;
  since?: string;
  junit?: string;
}

export const verify: Command<Arguments> = {
  command: 'verify [file]',
  describe: 'Judge expectations over the journal; the exit code is the verdict',
  builder: (y: Argv) =>
    y
      .positional('file', {
        type: 'string',
        describe: 'A file with `expect:`, or a scenario file; - is standard input',
      })
      .options({
        ...driverOptions,
        scenario: { type: 'string', describe: 'The expectations of a loaded scenario, in place of a file' },
        wait: { type: 'string', default: '0s', describe: 'Longest time to wait for what is pending' },
        since: { type: 'string', describe: 'What came before does not count: 10m, a time, a mark' },
        junit: { type: 'string', describe: 'Also write the verdict there as JUnit XML' },
      })
      .example(
        '$0 verify expectations.yaml --wait 60s --junit out.xml',
        'exit code 0 when all passed, 1 when not',
      ),
  run: async (args) => {
    const { file, scenario, since } = args;
    if (file === undefined && scenario === undefined)
      throw new UsageError('verify: expected a file, or --scenario NAME');
    const { parseDuration } =
      require('../../scenarios/language') as typeof import('../../scenarios/language');
    const wait = parseDuration(args.wait);
    if (!('value' in wait))
      throw new Error(`--wait: expected a duration such as 60s, found ${JSON.stringify(args.wait)}`);
    const reply = await (await connect(args)).verify(file === undefined ? undefined : textOf(file), {
      waitMs: wait.value,
      ...(since !== undefined && { since }),
      ...(scenario !== undefined && { scenario }),
      ...(file !== undefined && { file: file === '-' ? 'stdin' : file }),
    });
    if (args.junit !== undefined) writeFileSync(args.junit, reply.junit);
    if (args.json) {
      const { text: _text, junit: _junit, ...verdict } = reply;
      printJson(verdict);
    } else print(reply.text);
    return reply.passed ? EXIT.OK : EXIT.FAILED;
  },
};
