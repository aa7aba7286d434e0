#!/usr/bin/env -S node --max-semi-space-size=2
// The first line keeps the young generation small: V8's default lets it grow to three times 16 MiB, which a driver that
// answers thousands of short calls fills and never gives back. scripts/lib/node-flags.cjs says the same to scripts.

// Before anything can use the thread pool: mounts of hung disks must not starve file I/O.
process.env.UV_THREADPOOL_SIZE ??= '16';

import yargs, { type Argv, type CommandModule } from 'yargs';
import { EXIT } from './exit-codes';
import * as serve from './serve-options';
import { packageVersion } from './version';

const words = process.argv.slice(2);
const [first = '', ...rest] = words;

void (first === 'serve' ? serveAlone(rest) : everything(words)).parse();

/**
 * `serve` without the other commands, which would be loaded to be told apart. As yargs' default command it starts at once;
 * for any other one yargs first lays out the help that nobody asked for.
 */
function serveAlone(options: readonly string[]): Argv {
  return common(yargs([...options]).scriptName('fake-csi serve'), () => 'serve ').command(serveCommand('$0'));
}

function everything(all: readonly string[]): Argv {
  const { commands } = require('./commands') as typeof import('./commands');
  const known = ['serve', ...commands.map(({ command }) => `${command}`.split(' ')[0])];
  return common(yargs([...all]).scriptName('fake-csi'), () => (known.includes(first) ? `${first} ` : ''))
    .usage('$0 <command>\n\nA CSI driver that behaves perfectly until you tell it not to.')
    .command(serveCommand('serve'))
    .command([...commands])
    .completion('completion', 'Print a script that completes commands in bash or zsh')
    .demandCommand(1, 'Expected a command; `fake-csi serve` runs the driver.')
    .recommendCommands();
}

function serveCommand(command: 'serve' | '$0'): CommandModule {
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

/** @param named the command whose help is to be looked at, with a blank behind it, when the command line is wrong. */
function common(y: Argv, named: () => string): Argv {
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
