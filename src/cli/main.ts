#!/usr/bin/env -S node --max-semi-space-size=2
// The first line keeps the young generation small: V8's default lets it grow to three times 16 MiB, which a driver that
// answers thousands of short calls fills and never gives back. scripts/lib/node-flags.cjs says the same to scripts.

// Before anything can use the thread pool: mounts of hung disks must not starve file I/O.
process.env.UV_THREADPOOL_SIZE ??= '16';

import yargs from 'yargs';
import { commands } from './commands';
import { EXIT } from './exit-codes';
import * as serve from './serve-options';
import { packageVersion } from './version';

void yargs(process.argv.slice(2))
  .scriptName('fake-csi')
  .usage('$0 <command>\n\nA CSI driver that behaves perfectly until you tell it not to.')
  .command({
    command: 'serve',
    describe: 'Run the driver on a Unix socket',
    builder: (y) => y.options(serve.options).example(serve.examples),
    // Loaded only when called: --version and --help must not pay for gRPC.
    handler: (args) => {
      const { run } = require('./serve') as typeof import('./serve');
      return run(args as unknown as serve.ServeArguments);
    },
  })
  .command([...commands])
  .completion('completion', 'Print a script that completes commands in bash or zsh')
  .demandCommand(1, 'Expected a command; `fake-csi serve` runs the driver.')
  .recommendCommands()
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
    const [command = ''] = process.argv.slice(2);
    const known = ['serve', ...commands.map(({ command: usage }) => `${usage}`.split(' ')[0])].includes(
      command,
    );
    process.stderr.write(`fake-csi: ${message}\nSee fake-csi ${known ? `${command} ` : ''}--help.\n`);
    process.exit(EXIT.USAGE);
  })
  .parse();
