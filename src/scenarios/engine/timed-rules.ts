import { registrationMethods } from '../../csi/rpcs';
import type { Clock } from '../../util/clock';
import type { Rule } from '../model';
import type { RuleState } from './armed';

const REGISTRATION: ReadonlySet<string> = new Set(registrationMethods);

/**
 * Whether a rule acts when its time comes and not on calls: it is about the registration alone, does something to it, and
 * says when. While all is well the kubelet makes no call there that such a rule could wait for.
 */
export function actsByTime({ match: { methods }, when, stages }: Rule): boolean {
  return (
    methods !== undefined &&
    [...methods].every((method) => REGISTRATION.has(method)) &&
    (when.window !== undefined || when.after !== undefined) &&
    stages.some(({ steps }) => steps.some(({ action }) => action.kind === 'registration'))
  );
}

export interface TimedRulesOptions {
  clock: Clock;
  /** Whether the rule's time has come and lasts. */
  holds(state: RuleState): boolean;
  /** Milliseconds until that can change by itself; undefined: never. */
  untilChange(state: RuleState): number | undefined;
  began(state: RuleState): void;
  ended(state: RuleState): void;
}

/** Looks when the time of each rule comes and goes. */
export class TimedRules {
  private rules: readonly RuleState[] = [];
  /** Rules whose time has come, and the arming that it counted from: armed again, it comes anew. */
  private readonly holding = new Map<RuleState, number>();
  private timer: AbortController | undefined;

  constructor(private readonly options: TimedRulesOptions) {}

  watch(rules: readonly RuleState[]): void {
    this.rules = rules;
    this.look();
  }

  /** To be called whenever something changes that a rule's time depends on. */
  look(): void {
    const { holds, began, untilChange, clock } = this.options;
    for (const state of this.holding.keys()) if (!this.rules.includes(state)) this.end(state);
    // One that begins may be what another waits for.
    for (let more = true; more; ) {
      more = false;
      for (const state of this.rules) {
        const { armedAt } = state.scenario;
        const was = this.holding.get(state);
        const is = holds(state);
        if (was !== undefined && (!is || was !== armedAt)) this.end(state);
        if (!is || was === armedAt) continue;
        this.holding.set(state, armedAt);
        began(state);
        more = true;
      }
    }
    this.timer?.abort();
    const next = Math.min(...this.rules.map((state) => untilChange(state) ?? Number.POSITIVE_INFINITY));
    if (!Number.isFinite(next)) return;
    const timer = new AbortController();
    this.timer = timer;
    // A timer may be early by less than a millisecond, and would then find nothing changed.
    void clock.sleep(Math.max(1, next), timer.signal).then(
      () => this.look(),
      () => undefined,
    );
  }

  close(): void {
    this.timer?.abort();
    this.rules = [];
  }

  private end(state: RuleState): void {
    this.holding.delete(state);
    this.options.ended(state);
  }
}
