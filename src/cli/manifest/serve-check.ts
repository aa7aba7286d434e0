import yargs from 'yargs';
import { readConfig } from '../serve-config';
import { options, type ServeArguments } from '../serve-options';

/**
 * Reads a container's arguments as `serve` will: what it would refuse on every node is refused here.
 * @throws Error with serve's own line
 */
export function checkServe(args: readonly string[]): void {
  const parsed = yargs(args.slice(1))
    .options(options)
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new Error(message);
    })
    .parseSync() as unknown as ServeArguments;
  // The id comes from the pod.
  readConfig(parsed, { FAKE_CSI_NODE_ID: 'node' });
}
