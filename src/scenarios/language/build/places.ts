import type { Method } from '../../../csi/rpcs';
import type { Place, Step } from '../../model';
import { POINTS } from '../../points';

/** Whether a step at `later`, written after a step at `earlier`, is taken when the call ends in the earlier one. */
export function isBeyond(later: Place, earlier: Place, methods: readonly Method[]): boolean {
  if (later === earlier) return true;
  return methods.every((method) => rank(later, method) > rank(earlier, method));
}

/** The order in which a call comes by the places. What is done instead of the work takes the place of all after it. */
function rank(place: Place, method: Method): number {
  if (place === 'before' || place === 'instead') return 0;
  if (place === 'after') return 1000;
  return 1 + (POINTS[method]?.indexOf(place) ?? 0);
}

export function defaultPlace(kind: Step['action']['kind']): Place {
  return kind === 'respond' ? 'after' : 'before';
}
