import type { Action } from '../../model';
import type { ActionContext, Perform } from './action';
import { delay } from './delay';
import { error } from './error';
import { goto } from './goto';
import { hang } from './hang';
import { process } from './process';
import { registration } from './registration';

/** Changes a message; the engine does that where the message is. */
type MessageAction = 'set' | 'respond';
/** Done where the disk is, under the volume's lock. */
type DiskAction = 'disk';
type Performed = Exclude<Action['kind'], MessageAction | DiskAction>;

/** Every action that is done to a call, one a file. A new kind is a file here and a line in this table. */
const performers: { readonly [K in Performed]: Perform<K> } = {
  delay,
  error,
  goto,
  hang,
  process,
  registration,
};

export async function perform(action: Action, context: ActionContext): Promise<void> {
  if (!isPerformed(action)) return;
  const act = performers[action.kind] as Perform<typeof action.kind>;
  await act(action as never, context);
}

function isPerformed(action: Action): action is Extract<Action, { kind: Performed }> {
  return Object.hasOwn(performers, action.kind);
}
