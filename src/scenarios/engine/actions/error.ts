import { Code, CsiError } from '../../../csi/status';
import type { Fire } from '../decide';
import { scopeOf } from '../scope';
import type { Perform } from './action';

export const error: Perform<'error'> = (action, { fire, call, node }) => {
  const { state } = fire;
  const { scenario } = state.scenario;
  const message = action.message.render(
    scopeOf(call, node, {
      rule: { name: state.rule.name, fired: state.counters.fired, nth: fire.nth },
      scenario: { name: scenario.name, fired: state.scenario.fired },
    }),
  );
  throw new CsiError(
    Code[action.code],
    scenario.discreet
      ? message || `${action.code} from the storage backend`
      : [signature(fire), message].join(' ').trim(),
  );
};

/** Whoever reads the error in `kubectl describe` can find out who made it up, and whether more of it is to come. */
export function signature({ state, stage, nth }: Fire): string {
  const turn = stage.count === undefined ? `${nth}` : `${nth} of ${stage.count}`;
  return `[scenario ${state.scenario.scenario.name}: rule ${state.rule.name}, ${turn}]`;
}
