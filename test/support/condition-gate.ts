import { applyCondition, type DiskTarget, type PreparedDisk } from '../../src/faults/disk';
import type { DiskCondition } from '../../src/scenarios/model';
import type { GateCall } from '../../src/server/gate';
import { TestGate } from './gate';

/** Puts one condition on every disk that is staged, as long as there is one. */
export class ConditionGate extends TestGate {
  condition: DiskCondition | undefined;
  readonly effects: string[] = [];

  async disk(_call: GateCall, target: DiskTarget): Promise<PreparedDisk | undefined> {
    if (!this.condition) return undefined;
    const effect = (text: string) => {
      this.effects.push(text);
      target.effect(text);
    };
    return applyCondition(this.condition, { ...target, effect });
  }
}
