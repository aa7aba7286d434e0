import type { CallOptions } from '../../csi/client';
import { redactRequest } from '../../csi/redact';
import type { ClientRequestOf, ClientResponseOf, Method, RequestOf } from '../../csi/rpcs';
import { type Code, CsiError } from '../../csi/status';
import type { Clock } from '../../util/clock';
import { goCodeName } from '../errors';
import type { Component, Timeline } from '../timeline/timeline';

type UnaryMethod = Exclude<Method, 'GetMetadataAllocated' | 'GetMetadataDelta'>;

/** One deadline for all calls of a step (context.WithTimeout). */
export interface CallContext {
  /** clock.now() */
  readonly deadline: number;
  readonly about?: string;
  /** Whom it calls, where that is not always the same: a driver by its name, a registration socket by its path. */
  readonly to?: string;
}

export interface CallsOptions {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly who: Component;
  readonly node?: string;
  /** Aborts when the caller ends; its calls are cancelled then. */
  readonly signal: AbortSignal;
  /** A client of its own for each call, as the kubelet connects; it has a function of each method's name. */
  connect(to: string | undefined): { close(): void };
}

/** The calls that one component makes. Each is on the timeline. */
export class CsiCalls {
  /** By method: what runs now, since when. */
  readonly running = new Map<
    symbol,
    { readonly method: string; readonly about?: string; readonly since: number }
  >();

  constructor(private readonly options: CallsOptions) {}

  context(timeoutMs: number, about?: string, to?: string): CallContext {
    const deadline = this.options.clock.now() + timeoutMs;
    return { deadline, ...(about !== undefined && { about }), ...(to !== undefined && { to }) };
  }

  /** @throws CsiError; the signal's reason when the caller has ended */
  async call<M extends UnaryMethod>(
    method: M,
    request: ClientRequestOf<M>,
    { deadline, about, to }: CallContext,
  ): Promise<ClientResponseOf<M>> {
    const { clock, timeline, who, node, signal, connect } = this.options;
    const entry = timeline.call({
      who,
      ...(node !== undefined && { node }),
      ...(about !== undefined && { about }),
      method,
      request: shown(method, request),
    });
    const client = connect(to) as unknown as Record<
      UnaryMethod,
      (request: object, options: CallOptions) => Promise<ClientResponseOf<M>>
    > & { close(): void };
    const key = Symbol(method);
    this.running.set(key, { method, since: clock.now(), ...(about !== undefined && { about }) });
    try {
      const timeoutMs = Math.max(0, deadline - clock.now());
      const response = await client[method](request as object, { timeoutMs, signal });
      signal.throwIfAborted();
      entry.end('OK', undefined);
      return response;
    } catch (error) {
      if (signal.aborted) {
        entry.end('CANCELLED', 'the caller ended');
        throw signal.reason;
      }
      const answer = error instanceof CsiError ? error : new CsiError(2 as Code, String(error));
      entry.end(answer.codeName ?? goCodeName(answer.code), answer.message);
      throw answer;
    } finally {
      this.running.delete(key);
      client.close();
    }
  }
}

function shown<M extends Method>(method: M, request: ClientRequestOf<M>): object {
  return redactRequest(method, request as RequestOf<M>) as object;
}
