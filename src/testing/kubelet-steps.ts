import type { StateWord } from '../kubelet/steps/grammar';

/**
 * What may be waited for, in the words of docs/rehearsal.md: `running web`, `state data mounted`,
 * `calls NodeStageVolume INTERNAL >=2`, `not event FailedMount`.
 */
export type KubeletCondition =
  | 'clean'
  | 'running'
  | `running ${string}`
  | 'gone'
  | `gone ${string}`
  | `event ${string}`
  | `state ${string} ${StateWord}`
  | `calls ${string}`
  | `not ${string}`;

export type { StateWord };
