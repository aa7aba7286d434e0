import type { Method } from '../../src/csi/rpcs';
import type { ActionCall, ProcessControl } from '../../src/scenarios/engine/actions/action';
import { Engine } from '../../src/scenarios/engine/engine';
import type { VolumeFacts } from '../../src/scenarios/engine/facts';
import { parseScenarios } from '../../src/scenarios/language';
import { formatProblem } from '../../src/scenarios/language/problems';
import { fingerprintOf } from '../../src/scenarios/library/source';
import type { Scenario } from '../../src/scenarios/model';
import { VirtualClock } from '../../src/util/virtual-clock';

/** Scenarios from the part of a document that differs: `spec` and what follows, name `test`. */
export function scenarios(...specs: string[]): Scenario[] {
  return specs.flatMap((spec, index) => {
    const name = index === 0 ? 'test' : `test-${index + 1}`;
    const text = `apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: ${name}}\nspec:\n${spec}`;
    const { scenarios: found, problems } = parseScenarios(text, 'test.yaml');
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) throw new Error(errors.map(formatProblem).join('\n'));
    return found;
  });
}

export interface CallOptions {
  volume?: string;
  facts?: Partial<VolumeFacts>;
  pod?: { namespace?: string; name?: string; uid?: string };
  node?: string;
  request?: object;
  signal?: AbortSignal;
}

/** An engine under a clock that stands still, with a journal of what it says. */
export class TestEngine {
  readonly clock = new VirtualClock();
  readonly events: { event: string; details: object }[] = [];
  readonly acts: string[] = [];
  readonly effects: string[] = [];
  fsFreePct = 50;
  readonly engine: Engine;
  private lastCall = 0;

  constructor(...specs: string[]) {
    const note = (act: string) => {
      this.acts.push(act);
    };
    const process: ProcessControl = {
      exit: async (code) => {
        note(`exit ${code}`);
        throw new Error('the process is gone');
      },
      stopFor: async (ms) => note(`stop ${ms}`),
      closeSocket: async (ms) => note(`close ${ms}`),
    };
    this.engine = new Engine({
      clock: this.clock,
      process,
      registration: {
        act: ({ kind }, by) => note(`registration ${kind} by ${by.scenario}/${by.rule}`),
        heal: (scenario) => note(`registration heal ${scenario}`),
        windowClosed: (scenario, name) => note(`registration window closed ${scenario}/${name}`),
      },
      node: () => ({ id: 'node-1', fsFreePct: this.fsFreePct }),
      event: (event, details) => this.events.push({ event, details }),
      changed: () => undefined,
      machineChanged: (scenario, machine, state) => note(`machine ${scenario} ${machine} ${state}`),
    });
    this.load(scenarios(...specs));
  }

  load(found: readonly Scenario[], armed = true): void {
    this.engine.load(
      found.map((scenario) => ({
        scenario,
        fingerprint: fingerprintOf(scenario),
        armed,
        armedAt: this.clock.now(),
      })),
    );
  }

  call(method: Method, options: CallOptions = {}): ActionCall {
    const { volume, facts = {}, pod, node = 'node-1', request = {} } = options;
    const id = ++this.lastCall;
    return {
      id,
      method,
      nodeId: node,
      volumeId: volume,
      volume: () =>
        volume === undefined
          ? undefined
          : {
              id: volume,
              name: volume,
              pvc: {},
              storageClass: undefined,
              parameters: {},
              attributes: {},
              fsType: 'ext4',
              accessModes: ['SINGLE_NODE_WRITER'],
              block: false,
              capacityBytes: 1n << 30n,
              states: ['created'],
              ...facts,
            },
      pod: () => pod,
      plainRequest: () => request,
      signal: options.signal ?? new AbortController().signal,
      effect: (text) => this.effects.push(text),
    };
  }

  /** Sends a call through the gate's early half. @returns OK, or the error's code; `misses` of the decision. */
  async send(method: Method, options: CallOptions = {}): Promise<string> {
    const call = this.call(method, options);
    const { fires } = this.engine.decide(call);
    try {
      await this.engine.run(fires, (place) => place !== 'after', call, false);
      await this.engine.run(fires, (place) => place === 'after', call, false);
      this.engine.ended(method, call.volumeId, true);
      return 'OK';
    } catch (error) {
      return (error as { codeName?: string }).codeName ?? String(error);
    }
  }

  misses(method: Method, options: CallOptions = {}) {
    return this.engine.decide(this.call(method, options)).misses;
  }
}
