import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import type { Argv } from 'yargs';
import { type Command, UsageError } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { EXIT } from '../exit-codes';
import { counted, print, printJson, printReached, table } from '../output';

interface Arguments extends DriverArguments {
  action: 'validate' | 'arm' | 'disarm' | 'list' | 'show' | 'reset' | 'remove';
  names: string[];
}

export const scenario: Command<Arguments> = {
  command: 'scenario <action> [names..]',
  describe: 'Check, arm, disarm, list, show, reset or remove scenarios',
  builder: (y: Argv) =>
    y
      .positional('action', {
        choices: ['validate', 'arm', 'disarm', 'list', 'show', 'reset', 'remove'] as const,
        describe: 'validate needs no driver; arm takes names or files',
      })
      .positional('names', { type: 'string', array: true, default: [], describe: 'Names, files or folders' })
      .options(driverOptions)
      .example(
        '$0 scenario validate my.yaml',
        'slow.yaml:13:5: rules.1: unknown key "tims" (did you mean "times"?)',
      )
      .example('$0 scenario arm scenarios/slow-attach.yaml', 'puts the file into the data folder and arms it')
      .example('$0 scenario disarm slow-attach', 'its rules act no more, what it holds is let go'),
  run: async (args) => {
    const { action, names } = args;
    if (action === 'list') return list(args);
    if (names.length === 0)
      throw new UsageError(
        `scenario ${action}: expected at least one name${action === 'validate' ? ' of a file' : ''}`,
      );
    if (action === 'validate') return validate(names, args.json);
    const client = await connect(args);
    for (const name of names) {
      switch (action) {
        case 'arm':
          await arm(client, name);
          break;
        case 'disarm':
          printReached(`disarmed ${name}`, await client.disarm(name));
          break;
        case 'reset':
          printReached(`reset ${name}`, await client.reset({ scenario: name }));
          break;
        case 'remove':
          printReached(`removed ${name}`, await client.removeScenario(name));
          break;
        case 'show': {
          const reply = await client.scenario(name);
          if (args.json) printJson(reply);
          else print(`# ${reply.scenario.file}\n${reply.text}`);
        }
      }
    }
    return EXIT.OK;
  },
};

/** A name that is loaded, or a file that is to be. */
async function arm(client: Awaited<ReturnType<typeof connect>>, name: string): Promise<void> {
  if (!/\.ya?ml$/.test(name) && !name.includes(path.sep)) {
    printReached(`armed ${name}`, await client.arm(name));
    return;
  }
  const { readScenarioFile } =
    require('../../scenarios/language') as typeof import('../../scenarios/language');
  const read = readScenarioFile(name);
  if (!('text' in read)) throw Object.assign(new Error(read.message), { errors: [read] });
  const reply = await client.putScenario(read.text, name);
  const { scenarios } = await client.scenarios();
  const resting = scenarios
    .filter((one) => reply.names.includes(one.name) && !one.armed)
    .map((one) => one.name);
  const armed = reply.names.filter((one) => !resting.includes(one));
  if (armed.length > 0) printReached(`armed ${armed.join(', ')} from ${name}`, reply);
  // With `enabled: false` this is how it is loaded for the volumes that name it.
  for (const one of resting)
    printReached(
      `loaded ${one} from ${name}: it says enabled: false and acts on volumes that name it; \`fake-csi scenario arm ${one}\` arms it for all`,
      reply,
    );
}

function validate(places: readonly string[], json: boolean | undefined): number {
  const { parseScenarioFile, formatProblem } =
    require('../../scenarios/language') as typeof import('../../scenarios/language');
  const { filesAt } =
    require('../../scenarios/library/source') as typeof import('../../scenarios/library/source');
  const results = places.flatMap(filesAt).map((file) => ({ file, ...parseScenarioFile(file) }));
  const seen = new Map<string, string>();
  for (const { file, scenarios, problems } of results)
    for (const { name } of scenarios) {
      const other = seen.get(name);
      if (other !== undefined && other !== file)
        problems.push({
          file,
          line: 1,
          column: 1,
          path: 'metadata.name',
          message: `the name "${name}" is used already in ${other}`,
          severity: 'error',
        });
      seen.set(name, file);
    }
  const problems = results.flatMap((result) => result.problems);
  const failed = problems.some(({ severity }) => severity === 'error');
  if (json) printJson({ valid: !failed, scenarios: [...seen.keys()], problems });
  else {
    for (const problem of problems) print(formatProblem(problem));
    if (!failed) print(`${counted(seen.size, 'scenario')} in ${counted(results.length, 'file')}: valid`);
  }
  return failed ? EXIT.FAILED : EXIT.OK;
}

async function list(args: Arguments): Promise<number> {
  const reply = await (await connect(args)).scenarios();
  if (args.json) {
    printJson(reply);
    return EXIT.OK;
  }
  const { formatProblem } =
    require('../../scenarios/language/problems') as typeof import('../../scenarios/language/problems');
  if (reply.scenarios.length === 0) print('no scenario is loaded; `fake-csi scenario arm FILE` loads one');
  else
    print(
      table(
        ['NAME', 'STATE', 'EXPIRES', 'FIRED', 'HOLDS', 'VOLUMES', 'RULES', 'FILE'],
        reply.scenarios.map((one) => [
          one.name,
          one.stopped ?? (one.armed ? 'armed' : 'disarmed'),
          one.armed && one.expiresAt !== undefined ? one.expiresAt.slice(0, 19).replace('T', ' ') : '',
          `${one.fired}`,
          `${one.active}`,
          `${one.volumes}`,
          one.rules.map(({ name, fired }) => `${name}:${fired}`).join(' '),
          one.file,
        ]),
      ),
    );
  for (const problem of reply.problems) print(formatProblem(problem));
  return EXIT.OK;
}

/** For commands that read a file or standard input (`-`). */
export function textOf(file: string): string {
  return readFileSync(file === '-' ? 0 : file, 'utf8');
}
