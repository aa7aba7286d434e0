import { systemClock } from '../../src/util/clock';
import { VirtualClock } from '../../src/util/virtual-clock';

const KERNEL_MS = 500;

/** Where the driver waits for the kernel, a moment at a time, real time has to pass; no rule waits as short as that. */
export class KernelsClock extends VirtualClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return ms < KERNEL_MS ? systemClock.sleep(ms, signal) : super.sleep(ms, signal);
  }
}
