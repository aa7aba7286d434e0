import type { ControlClient } from '../client';
import type { Context } from './context';

/** Who has done something by now. */
export interface Reached {
  processes: string[];
  unreachable: string[];
}

/**
 * What was just written into the shared files is taken up by the other processes now, and not only when they notice: a
 * call that comes after the answer meets it, whichever process it comes to.
 */
export async function spread(context: Context, alsoOpenSocket = false): Promise<Reached> {
  const { refused, unreachable, answers } = await context.peers.ask(async (peer) => {
    const { processes } = await peer.refresh({ all: false });
    if (alsoOpenSocket) await peer.openSocket({ all: false });
    return processes;
  });
  // One that could not has not done it, just as one that did not answer.
  return reachedBy(context, answers, [...unreachable, ...refused]);
}

/** Does something here that has no shared file, and then, unless told not to, in every other process. */
export async function everywhere(
  context: Context,
  all: boolean,
  elsewhere: (peer: ControlClient) => Promise<{ processes: string[] }>,
): Promise<Reached> {
  if (!all) return { processes: [context.driver.processName], unreachable: [] };
  const { answers, unreachable } = await context.peers.ask(async (peer) => (await elsewhere(peer)).processes);
  return reachedBy(context, answers, unreachable);
}

function reachedBy(
  { driver }: Context,
  answers: readonly (readonly string[])[],
  unreachable: readonly string[],
): Reached {
  return { processes: [driver.processName, ...answers.flat().sort()], unreachable: [...unreachable].sort() };
}
