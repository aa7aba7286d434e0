import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ProcessControl } from '../scenarios/engine/actions/action';

/** What the driver does around an act on its own process. */
export interface ProcessHooks {
  /** Puts the journal and the counters on disk: what comes next leaves no time for it. */
  save(): Promise<void>;
  closeSocket(ms: number | undefined): Promise<void>;
}

/** Acts on this very process, as a crash or a stuck node would. */
export function ownProcess({ save, closeSocket }: ProcessHooks): ProcessControl {
  return {
    exit: async (code) => {
      await save();
      process.exit(code);
    },
    stopFor: async (ms) => {
      await save();
      // A stopped process cannot wake itself: another one is started first, and goes on should this one be killed.
      const waker = spawn('sh', ['-c', `sleep ${ms / 1000}; kill -CONT ${process.pid}`], {
        detached: true,
        stdio: 'ignore',
      });
      await once(waker, 'spawn');
      waker.unref();
      process.kill(process.pid, 'SIGSTOP');
      // The signal is delivered while this thread runs on for a moment.
      await new Promise((resolve) => setImmediate(resolve));
    },
    closeSocket,
  };
}
