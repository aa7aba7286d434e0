import type { CallOptions, CsiClient } from '../csi/client';
import type { CsiDefinitions } from '../csi/load';
import { type Method, methods, type RequestOf, type ResponseOf, rpcs } from '../csi/rpcs';
import { Code, CsiError } from '../csi/status';
import type { Clock } from '../util/clock';
import type { Turns } from '../util/turns';

/** What a driver knows of a call that came without a socket. */
export interface InProcessCall {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
  readonly abandoned: boolean;
  readonly traceparent: undefined;
}

/** A driver in this process: the one way that every call takes, without its socket. */
export type CallServer = <M extends Method>(
  method: M,
  request: RequestOf<M>,
  incoming: InProcessCall,
) => Promise<ResponseOf<M>>;

export interface InProcessOptions {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly definitions: CsiDefinitions;
  /** In messages: where the socket would be. */
  readonly socket: string;
}

interface Wire {
  requestSerialize(request: object): Buffer;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(response: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

/**
 * Connections to a driver in this process, under virtual time. Messages are encoded and decoded as on the wire. A driver
 * that is not there is refused as a socket file without a listener is.
 */
export class InProcessConnections {
  private server: CallServer | undefined;
  private readonly cuts = new Set<() => void>();
  private readonly wires: Record<Method, Wire>;

  constructor(private readonly options: InProcessOptions) {
    this.wires = Object.assign({}, ...Object.values(options.definitions)) as Record<Method, Wire>;
  }

  /** From here on calls arrive there. */
  serve(server: CallServer): void {
    this.server = server;
  }

  /** The process is gone: what runs is answered by the transport, what comes is refused. */
  cut(): void {
    this.server = undefined;
    for (const cut of [...this.cuts]) cut();
  }

  connect(): CsiClient {
    const unary = methods
      .filter((method) => !rpcs[method].serverStreaming)
      .map((method) => [
        method,
        (request: object = {}, options: CallOptions = {}) => this.call(method, request, options),
      ]);
    return Object.assign(Object.fromEntries(unary), { close: () => undefined }) as CsiClient;
  }

  private async call(method: Method, request: object, { timeoutMs, signal }: CallOptions): Promise<object> {
    const { server } = this;
    const { clock, turns, socket } = this.options;
    if (!server)
      throw new CsiError(
        Code.UNAVAILABLE,
        `connection error: desc = "transport: Error while dialing: dial unix ${socket}: connect: connection refused"`,
      );
    const wire = this.wires[method];
    const decoded = wire.requestDeserialize(wire.requestSerialize(request)) as RequestOf<Method>;
    const gone = new AbortController();
    const ended = new AbortController();
    const incoming: InProcessCall = {
      timeoutMs,
      signal: gone.signal,
      get abandoned() {
        return gone.signal.aborted;
      },
      traceparent: undefined,
    };
    return new Promise<object>((resolve, reject) => {
      const work = turns.start(() => server(method, decoded, incoming));
      const leave = (error: CsiError, told = error) => {
        reject(told);
        gone.abort(error);
      };
      const onAbort = () => leave(new CsiError(Code.CANCELLED, 'context canceled'));
      const cut = () => {
        work.abandon();
        reject(new CsiError(Code.UNAVAILABLE, 'error reading from server: EOF'));
      };
      this.cuts.add(cut);
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      if (timeoutMs !== undefined)
        clock.sleep(timeoutMs, ended.signal).then(
          () =>
            leave(
              new CsiError(Code.DEADLINE_EXCEEDED, "the client's deadline passed"),
              new CsiError(Code.DEADLINE_EXCEEDED, 'context deadline exceeded'),
            ),
          () => undefined,
        );
      work.done
        .then((response) => resolve(wire.responseDeserialize(wire.responseSerialize(response))), reject)
        .finally(() => {
          this.cuts.delete(cut);
          ended.abort('answered');
          signal?.removeEventListener('abort', onAbort);
        });
    });
  }
}
