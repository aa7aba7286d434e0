import type { Argv, CommandModule } from 'yargs';
import { EXIT } from './exit-codes';
import * as serve from './serve-options';
import { packageVersion } from './version';

/** @param command `$0` where there is no other one. */
export function serveCommand(command: 'serve' | '$0'): CommandModule {
  const examples = serve.examples.map(([line, what]): [string, string] => [`fake-csi ${line}`, what]);
  return {
    command,
    describe: 'Run the driver on a Unix socket',
    builder: (y) => y.options(serve.options).example(examples),
    // Loaded only when called: --version and --help must not pay for gRPC.
    handler: (args) => {
      const { run } = require('./serve') as typeof import('./serve');
      return run(args as unknown as serve.ServeArguments);
    },
  };
}

/**
 * What every command line has.
 * @param named the command whose help is to be looked at, with a blank behind it, when the command line is wrong.
 */
export function common(y: Argv, named: () => string): Argv {
  return y
    .strict()
    .version(packageVersion())
    .help()
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .epilogue(
      'Exit codes: 0 done, 1 it failed or the verdict is not passed, 2 wrong command line, 3 no driver answers.',
    )
    .fail((message, error) => {
      if (error) {
        process.stderr.write(`fake-csi: ${error.message}\n`);
        process.exit(EXIT.FAILED);
      }
      process.stderr.write(`fake-csi: ${message}\nSee fake-csi ${named()}--help.\n`);
      process.exit(EXIT.USAGE);
    });
}
