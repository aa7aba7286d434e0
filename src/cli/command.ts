import type { Argv, CommandModule } from 'yargs';
import { EXIT } from './exit-codes';

/** One command. Everything it needs to work with is required inside `run`: `--help` and `--version` must not pay for it. */
export interface Command<Args> {
  command: string;
  describe: string;
  builder(y: Argv): Argv;
  /** @returns the exit code; nothing means 0. Errors are told in one line. */
  run(args: Args): Promise<number | undefined> | Promise<void>;
}

/** The command line is wrong in a way that its options alone do not tell. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function asModule<Args>({ command, describe, builder, run }: Command<Args>): CommandModule {
  return {
    command,
    describe,
    builder: builder as CommandModule['builder'],
    handler: async (args) => {
      process.exitCode = await end(() => {
        refuseNoNumbers(args);
        return run(args as unknown as Args);
      });
    },
  };
}

/** What is to be a number and is none comes as NaN, which compares to nothing: `--limit x` would be no limit. */
function refuseNoNumbers(args: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(args))
    if (Number.isNaN(value)) throw new UsageError(`${name}: expected a number`);
}

async function end(run: () => Promise<number | undefined> | Promise<void>): Promise<number> {
  try {
    return (await run()) ?? EXIT.OK;
  } catch (error) {
    const { code, errors } = error as { code?: string; errors?: { file: string }[] };
    process.stderr.write(`${message(error as Error, errors)}\n`);
    if (error instanceof UsageError) return EXIT.USAGE;
    return code === 'unreachable' ? EXIT.UNREACHABLE : EXIT.FAILED;
  }
}

/** Problems of a scenario are lines of their own, as a compiler gives them: editors jump there. */
function message(error: Error, problems: readonly object[] | undefined): string {
  if (!Array.isArray(problems) || problems.length === 0) return `fake-csi: ${error.message}`;
  const { formatProblem } =
    require('../scenarios/language/problems') as typeof import('../scenarios/language/problems');
  return problems.map((problem) => formatProblem(problem as never)).join('\n');
}
