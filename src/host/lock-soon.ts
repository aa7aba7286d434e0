import type { Clock } from '../util/clock';
import { errnoOf } from '../util/files';
import type { Host } from './host';

const PAUSE_MS = 5;
const LONGEST_MS = 2_000;

/**
 * Takes a file that others hold for a moment only.
 * @returns the function that lets go of it. @throws HostError EAGAIN when somebody holds it for two seconds.
 */
export async function lockSoon(
  host: Pick<Host, 'lockFile'>,
  file: string,
  clock: Clock,
): Promise<() => Promise<void>> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return await host.lockFile(file);
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN' || waited >= LONGEST_MS) throw error;
      await clock.sleep(PAUSE_MS);
    }
  }
}
