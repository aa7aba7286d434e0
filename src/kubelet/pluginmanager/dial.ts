import type { Clock } from '../../util/clock';
import { PLUGIN_DIAL_TIMEOUT_MS } from '../constants';
import { Waiting } from '../poll';
import type { PluginsFolder } from './plugins-folder';

/** gRPC's pause between two connects, from the beginning of the one to that of the other; its jitter of a fifth left out. */
const FIRST_PAUSE_MS = 1_000;
const PAUSE_FACTOR = 1.6;

/**
 * A dial that blocks: connects again and again within its ten seconds. A connection on which nothing is said is waited for
 * until it is cut, which it is when the socket goes.
 * @throws Error in the kubelet's words; the signal's reason
 */
export async function dial(
  folder: PluginsFolder,
  socketPath: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.now() + PLUGIN_DIAL_TIMEOUT_MS;
  for (let pause = FIRST_PAUSE_MS; clock.now() < deadline; pause *= PAUSE_FACTOR) {
    const began = clock.now();
    const listener = folder.listenerAt(socketPath);
    if (listener === 'serving') return;
    if (listener === 'silent') await untilCut(folder, socketPath, clock, signal, deadline);
    await clock.sleep(Math.max(0, Math.min(began + pause, deadline) - clock.now()), signal);
  }
  throw new Error(`failed to dial socket ${socketPath}, err: context deadline exceeded`);
}

async function untilCut(
  folder: PluginsFolder,
  socketPath: string,
  clock: Clock,
  signal: AbortSignal,
  deadline: number,
): Promise<void> {
  const madeNow = () => folder.sockets().find(({ path }) => path === socketPath)?.made;
  const made = madeNow();
  let unwatch: (() => void) | undefined;
  try {
    await new Waiting(clock, signal).until(deadline, (end) => {
      unwatch = folder.watch(() => {
        if (madeNow() !== made) end();
      });
    });
  } finally {
    unwatch?.();
  }
}
