import type { Method, RequestOf } from '../../csi/rpcs';
import type { Check } from './check';

/** The rules of one service: a check of the whole request for each of its methods. */
export type RuleTable<Rpcs> = { [M in keyof Rpcs & Method]: Check<RequestOf<M>> };
