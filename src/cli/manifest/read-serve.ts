import yargs from 'yargs';
import { readConfig } from '../serve-config';
import { options, type ServeArguments } from '../serve-options';

/**
 * Reads a container's words after `serve` as `serve` will: what it would refuse on every node is refused here.
 * @throws Error with serve's own line
 */
export function readServe(words: readonly string[], environment: NodeJS.ProcessEnv) {
  const args = yargs([...words])
    .options(options)
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new Error(message);
    })
    .parseSync() as unknown as ServeArguments;
  return { args, ...readConfig(args, environment) };
}
