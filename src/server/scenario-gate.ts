import { applyMerge, emptyMessage, setField } from '../csi/patch';
import { type Method, type RequestOf, type ResponseOf, rpcs } from '../csi/rpcs';
import type { CodeName } from '../csi/status';
import type { DiskTarget, PreparedDisk } from '../faults/disk/target';
import type { ActionCall } from '../scenarios/engine/actions/action';
import type { Fire } from '../scenarios/engine/decide';
import { actionsOf, type Engine } from '../scenarios/engine/engine';
import type { Place } from '../scenarios/model';
import type { Env } from '../services/env';
import type { FaultGate, GateCall } from './gate';

/** What was decided about a call, while it runs. */
interface Open {
  fires: readonly Fire[];
  call: ActionCall;
}

/** No scenario has a longer name, and what is longer must not fill the journal. */
const MAX_NAME = 253;

const isEarly = (place: Place) => place === 'before' || place === 'instead';
const isLate = (place: Place) => place === 'after';

/** The fault gate that asks the scenarios: everything is decided when a call arrives, and done where the steps say. */
export class ScenarioGate implements FaultGate {
  private readonly open = new WeakMap<GateCall, Open>();

  constructor(
    private readonly env: Env,
    private readonly engine: Engine,
  ) {}

  async before<M extends Method>(gate: GateCall<M>): Promise<ResponseOf<M> | undefined> {
    this.checkNamed(gate);
    if (!this.engine.concerns(gate.method)) return undefined;
    const { facts } = gate;
    const { fires, misses } = this.engine.decide(facts);
    for (const miss of misses) gate.missed(miss);
    if (fires.length === 0) return undefined;
    const call: ActionCall = {
      ...facts,
      get signal() {
        return gate.signal;
      },
      effect: (text) => gate.effect(text),
    };
    this.open.set(gate as GateCall, { fires, call });
    for (const { state } of fires) gate.fired(state.name);
    this.changeRequest(gate, fires);
    await this.engine.run(fires, isEarly, call, false);
    if (!fires.some(({ stage }) => stage.steps.some(({ place }) => place === 'instead'))) return undefined;
    gate.effect('answered without doing the work');
    // Of another rule: what it does to an answer it does to this one.
    await this.engine.run(fires, isLate, call, false);
    return this.merge(
      gate,
      fires,
      emptyMessage(rpcs[gate.method].responseType) as ResponseOf<M>,
      (place) => isEarly(place) || isLate(place),
    );
  }

  async after<M extends Method>(gate: GateCall<M>, response: ResponseOf<M>): Promise<ResponseOf<M>> {
    const open = this.open.get(gate as GateCall);
    if (!open) return response;
    await this.engine.run(open.fires, isLate, open.call, false);
    return this.merge(gate, open.fires, response, () => true);
  }

  async point(gate: GateCall, name: string): Promise<void> {
    const open = this.open.get(gate);
    if (open) await this.engine.run(open.fires, (place) => place === name, open.call, true);
  }

  async disk(gate: GateCall, target: DiskTarget): Promise<PreparedDisk | undefined> {
    const open = this.open.get(gate);
    const [condition, ...others] = open ? this.engine.diskConditions(open.fires) : [];
    if (!condition) return undefined;
    for (const { kind } of others)
      gate.effect(`disk condition ${kind} was not applied: a disk meets one at a time`);
    // Thirty files that a driver whose disks are well has no use for.
    const { applyCondition } = require('../faults/disk') as typeof import('../faults/disk');
    return applyCondition(condition, target);
  }

  ended(gate: GateCall, code: CodeName | 'OK'): void {
    const { method, facts } = gate;
    this.engine.ended(method, facts.volumeId, code === 'OK');
  }

  /** A volume may name a scenario before it is loaded; whoever waits for its faults must be able to see why there are none. */
  private checkNamed<M extends Method>({ method, request, effect }: GateCall<M>): void {
    const { parameters, volume_context: context } = request as {
      parameters?: Record<string, string>;
      volume_context?: Record<string, string>;
    };
    const named = (parameters?.scenario ?? context?.scenario)?.slice(0, MAX_NAME);
    if (named === undefined || named === '' || this.engine.scenario(named)) return;
    effect(`scenario ${JSON.stringify(named)}, which the volume names, is not loaded`);
    if (method === 'CreateVolume')
      this.env.log.warn(
        { scenario: named },
        'a volume names a scenario that is not loaded; it acts once it is',
      );
  }

  /** The real operation with another request: the errors that come of it are real, too. */
  private changeRequest<M extends Method>(gate: GateCall<M>, fires: readonly Fire[]): void {
    for (const { action, fire } of actionsOf(fires, 'set'))
      for (const { path, value } of action.fields) {
        const what = `request.${path.join('.')}`;
        try {
          gate.request = setField(rpcs[gate.method].requestType, gate.request, path, value) as RequestOf<M>;
          gate.effect(`${what} set by ${fire.state.name}`);
        } catch (error) {
          // Only a call tells how long its lists are.
          gate.effect(`${what} was not set by ${fire.state.name}: ${(error as Error).message}`);
        }
      }
  }

  private merge<M extends Method>(
    gate: GateCall<M>,
    fires: readonly Fire[],
    response: ResponseOf<M>,
    at: (place: Place) => boolean,
  ): ResponseOf<M> {
    let merged = response;
    for (const { action, place, fire } of actionsOf(fires, 'respond')) {
      if (!at(place)) continue;
      merged = applyMerge(rpcs[gate.method].responseType, merged, action.merge) as ResponseOf<M>;
      gate.effect(`answer changed by ${fire.state.name}`);
    }
    return merged;
  }
}
