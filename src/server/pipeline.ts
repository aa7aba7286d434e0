import { closedGate, type Gate } from '../csi/capabilities';
import { redactResponse } from '../csi/redact';
import { type Method, type RequestOf, type ResponseOf, rpcs, type ServiceName, subjectOf } from '../csi/rpcs';
import { CsiError, unimplemented } from '../csi/status';
import type { Miss } from '../journal/entry';
import type { Journal } from '../journal/journal';
import type { Call, Env } from '../services/env';
import type { Handlers, StreamingMethod, UnaryMethod } from '../services/index';
import { lockKeys } from '../services/lock-keys';
import { withPlainPaths } from '../services/plain-paths';
import { type RuleConfig, validateRequest } from '../services/rules/index';
import type { Locks, Release } from '../volumes/locks';
import { factsOf } from './call-facts';
import { isUnexpected, toCsiError } from './errors';
import type { FaultGate, GateCall } from './gate';
import { type Scrubber, scrubber } from './scrub';
import type { SecretPolicy } from './secrets';

/** What the transport knows of a call. */
export interface Incoming {
  /** Milliseconds until the client's deadline; undefined when it has none. */
  readonly timeoutMs: number | undefined;
  /** Aborts when the client cancels or its deadline passes. */
  readonly signal: AbortSignal;
  /** Whether it has. */
  readonly abandoned: boolean;
  readonly traceparent: string | undefined;
  /** Which of several sockets it came by, where that makes a difference. */
  readonly via?: string | undefined;
}

export interface PipelineOptions {
  env: Env;
  handlers: Handlers;
  locks: Locks;
  faults: FaultGate;
  journal: Journal;
  served: ReadonlySet<ServiceName>;
  rules: RuleConfig;
  secrets: SecretPolicy | undefined;
}

/** The one way that every call takes, whatever transport it came by. */
export class Pipeline {
  private lastCall: number;
  private running = 0;
  private readonly idle = new Set<() => void>();

  constructor(private readonly options: PipelineOptions) {
    // Numbers go on where the last process of this name stopped: one call, one number, in the whole journal.
    this.lastCall = options.journal.lastCall;
  }

  unary<M extends UnaryMethod>(method: M, request: RequestOf<M>, incoming: Incoming): Promise<ResponseOf<M>> {
    let answer: ResponseOf<M> | undefined;
    const work = async (call: Call, gate: GateCall<M>, release: Release): Promise<ResponseOf<M>> => {
      const handler = this.options.handlers[method] as (
        e: Env,
        r: RequestOf<M>,
        c: Call,
      ) => Promise<ResponseOf<M>>;
      const response = await handler(this.options.env, gate.request, call);
      release.shared();
      return this.options.faults.after(gate, response);
    };
    return this.answer(method, request, incoming, work, (response) => {
      answer = response;
    }).then(() => answer as ResponseOf<M>);
  }

  stream<M extends StreamingMethod>(
    method: M,
    request: RequestOf<M>,
    incoming: Incoming,
    send: (response: ResponseOf<M>) => Promise<void>,
  ): Promise<void> {
    const work = async (call: Call, gate: GateCall<M>): Promise<undefined> => {
      const handler = this.options.handlers[method] as (
        e: Env,
        r: RequestOf<M>,
        c: Call,
      ) => AsyncIterable<ResponseOf<M>>;
      for await (const response of handler(this.options.env, gate.request, call))
        await send(await this.options.faults.after(gate, response));
      return undefined;
    };
    return this.answer(method, request, incoming, work, async (response) => {
      if (response) await send(response);
    });
  }

  /**
   * One call from its arrival to its answer.
   * @throws CsiError the answer that is not OK
   */
  private async answer<M extends Method>(
    method: M,
    request: RequestOf<M>,
    incoming: Incoming,
    work: (call: Call, gate: GateCall<M>, release: Release) => Promise<ResponseOf<M> | undefined>,
    deliver: (response: ResponseOf<M> | undefined) => void | Promise<void>,
  ): Promise<void> {
    const { env, faults, locks, rules, secrets } = this.options;
    const context = this.open(method, request, incoming);
    const { gate, call } = context;
    let release: Release | undefined;
    this.running += 1;
    try {
      let response = await faults.before(gate);
      if (response === undefined) {
        this.checkImplemented(method);
        validateRequest(method, gate.request, rules);
        gate.request = withPlainPaths(method, gate.request);
        secrets?.check(method, gate.request);
        const keys = lockKeys(method, gate.request);
        release = locks.acquire(keys, `${method} (call ${gate.id})`);
        if (keys.exclusive.length > 0) await faults.point(gate, 'locked');
        response = await work(call, gate, release);
      }
      await deliver(response);
      this.close(context, response);
    } catch (error) {
      const answer = toCsiError(error);
      if (isUnexpected(error)) {
        const stack = context.scrub.log(String((error as Error)?.stack));
        env.log.error({ call: gate.id, method, stack }, 'unexpected error');
      }
      this.close(context, undefined, answer);
      throw new CsiError(answer.code, context.scrub.answer(answer.message), { cause: error });
    } finally {
      release?.();
      this.running -= 1;
      if (this.running === 0) for (const resolve of this.idle) resolve();
    }
  }

  /** Calls that have arrived so far. */
  get callCount(): number {
    return this.lastCall;
  }

  /** Resolves when no call runs. */
  async drained(): Promise<void> {
    if (this.running === 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.idle.delete(done);
        resolve();
      };
      this.idle.add(done);
    });
  }

  private checkImplemented(method: Method): void {
    const { served, env } = this.options;
    const { service, gates } = rpcs[method];
    if (!served.has(service))
      throw unimplemented(`${method}: this process does not serve ${service} (--services)`);
    const closed: Gate | undefined = closedGate(gates, env.settings.capabilities);
    if (closed)
      throw unimplemented(
        `${method}: the capability ${closed.anyOf.join(' or ')} is switched off (--capabilities)`,
      );
  }

  private open<M extends Method>(method: M, request: RequestOf<M>, incoming: Incoming): CallContext<M> {
    const { journal, env, faults, locks } = this.options;
    const id = ++this.lastCall;
    const fired: string[] = [];
    const misses: Miss[] = [];
    const effects: string[] = [];
    const scrub = scrubber(request);
    const { timeoutMs, traceparent } = incoming;
    const facts = factsOf(env, id, method, request);
    const gate: GateCall<M> = {
      id,
      method,
      request,
      facts,
      get signal() {
        return incoming.signal;
      },
      fired: (rule) => fired.push(rule),
      missed: (miss) => misses.push(miss),
      effect: (text) => effects.push(scrub.log(text)),
    };
    const call: Call = {
      method,
      get signal() {
        return incoming.signal;
      },
      effect: (text) => effects.push(scrub.log(text)),
      ...(incoming.via !== undefined && { via: incoming.via }),
      point: (name) => faults.point(gate, name),
      assertFree: (lock) => locks.assertFree(lock, `${method} (call ${id})`),
      prepareDisk: async (target) => faults.disk?.(gate, target),
    };
    const { volumeId, nodeId, targetPath, stagingTargetPath, volumePath } = subjectOf(method, request);
    const subject = {
      ...(volumeId !== undefined && { volumeId }),
      ...(nodeId !== undefined && { nodeId }),
      ...(targetPath !== undefined && { targetPath }),
      ...(volumePath !== undefined && { targetPath: volumePath }),
      ...(stagingTargetPath !== undefined && { stagingTargetPath }),
    };
    journal.append({
      type: 'received',
      call: id,
      method,
      ...subject,
      ...facts.names(),
      request: facts.plainRequest(),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(traceparent !== undefined && { traceparent }),
    });
    return {
      gate,
      call,
      fired,
      misses,
      effects,
      scrub,
      subject,
      incoming,
      began: env.clock.monotonic(),
    };
  }

  private close<M extends Method>(
    context: CallContext<M>,
    response: ResponseOf<M> | undefined,
    error?: CsiError,
  ): void {
    const { journal, env, faults } = this.options;
    const { gate, subject, effects, fired, misses, scrub } = context;
    const { method } = gate;
    const durationMs = Math.round((env.clock.monotonic() - context.began) * 1000) / 1000;
    const code = error?.codeName ?? 'OK';
    const message = error && scrub.log(error.loggable);
    journal.append({
      type: 'answered',
      call: gate.id,
      method,
      ...(subject.volumeId !== undefined && { volumeId: subject.volumeId }),
      code,
      ...(message !== undefined && { message }),
      durationMs,
      ...(response !== undefined && { response: redactResponse(method, response) }),
      effects,
      fired,
      ...(misses.length > 0 && { misses }),
      ...(context.incoming.abandoned && { abandoned: true }),
    });
    faults.ended?.(gate as GateCall, code);
    const fields = {
      call: gate.id,
      method,
      ...(subject.volumeId !== undefined && { volume_id: subject.volumeId }),
      ...(subject.stagingTargetPath !== undefined && { staging_target_path: subject.stagingTargetPath }),
      ...(subject.targetPath !== undefined && { target_path: subject.targetPath }),
      code,
      duration_ms: durationMs,
      ...(fired.length > 0 && { fired }),
    };
    if (message !== undefined) env.log.warn(fields, message);
    else if (rpcs[method].mutating) env.log.info(fields, effects.join('; '));
    else env.log.debug(fields, '');
  }
}

interface CallContext<M extends Method> {
  gate: GateCall<M>;
  call: Call;
  fired: string[];
  misses: Miss[];
  effects: string[];
  scrub: Scrubber;
  subject: { volumeId?: string; targetPath?: string; stagingTargetPath?: string };
  incoming: Incoming;
  began: number;
}
