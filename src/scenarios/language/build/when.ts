import type { When } from '../../model';
import type { WhenInput } from '../schema/when';
import { present } from './match';

/** `counted`: the calls of the rule are about volumes, so that the default of counting by volume means something. */
export function buildWhen(input: WhenInput | undefined, counted: boolean): When {
  const { per, ...rest } = input ?? {};
  return { per: per ?? (counted ? 'volume' : 'rule'), ...present(rest) } as When;
}
