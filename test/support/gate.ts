import type { Method, RequestOf, ResponseOf } from '../../src/csi/rpcs';
import type { FaultGate, GateCall } from '../../src/server/gate';

interface Rule {
  method: Method;
  point: string;
  volumeId: string | undefined;
  act(call: GateCall): Promise<void>;
}

/** A call that waits at a point until it is let go. */
export interface Held {
  /** Resolves when a call has come to the point. */
  reached: Promise<void>;
  /** How many have. */
  readonly count: number;
  release(): void;
}

/** A fault gate that tests steer: rules for named points, and a record of the points that calls passed. */
export class TestGate implements FaultGate {
  /** `Method.point` of every point passed, in order. */
  readonly passed: string[] = [];
  private rules: Rule[] = [];

  /** The next call that comes to the point fails there. */
  failOnce(method: Method, point: string, error: Error = new Error(`injected at ${point}`)): void {
    const rule: Rule = {
      method,
      point,
      volumeId: undefined,
      act: async () => {
        this.rules = this.rules.filter((other) => other !== rule);
        throw error;
      },
    };
    this.rules.push(rule);
  }

  /** Runs `act` whenever a call comes to the point. */
  at(method: Method, point: string, act: (call: GateCall) => Promise<void>): void {
    this.rules.push({ method, point, volumeId: undefined, act });
  }

  /** Calls wait at the point (`before`: ahead of everything) until released or abandoned by their client. */
  hold(method: Method, point: string, volumeId?: string): Held {
    let arrive: () => void = () => undefined;
    let release: () => void = () => undefined;
    let count = 0;
    const reached = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const rule: Rule = {
      method,
      point,
      volumeId,
      act: async (call) => {
        count += 1;
        arrive();
        await Promise.race([
          released,
          new Promise<void>((_, reject) =>
            call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true }),
          ),
        ]);
      },
    };
    this.rules.push(rule);
    return {
      reached,
      get count() {
        return count;
      },
      release: () => {
        this.rules = this.rules.filter((other) => other !== rule);
        release();
      },
    };
  }

  clear(): void {
    this.rules = [];
    this.passed.length = 0;
  }

  async before<M extends Method>(call: GateCall<M>): Promise<ResponseOf<M> | undefined> {
    await this.point(call as GateCall, 'before');
    return undefined;
  }

  async after<M extends Method>(call: GateCall<M>, response: ResponseOf<M>): Promise<ResponseOf<M>> {
    await this.point(call as GateCall, 'after');
    return response;
  }

  async point(call: GateCall, name: string): Promise<void> {
    this.passed.push(`${call.method}.${name}`);
    for (const rule of this.rules)
      if (
        rule.method === call.method &&
        rule.point === name &&
        (rule.volumeId === undefined ||
          rule.volumeId === (call.request as Partial<RequestOf<'NodeStageVolume'>>).volume_id)
      )
        await rule.act(call);
  }
}
