import type { CallOptions, CsiClient } from '../csi/client';
import type { RegistrationDefinition } from '../csi/gen/pluginregistration/Registration';
import type { CsiDefinitions } from '../csi/load';
import {
  type CsiMethod,
  type Method,
  methods,
  type RequestOf,
  type ResponseOf,
  registrationMethods,
  rpcs,
} from '../csi/rpcs';
import { Code, CsiError } from '../csi/status';
import type { Clock } from '../util/clock';
import type { Turns } from '../util/turns';
import type { RegistrationClient } from './pluginmanager/plugins-folder';

/** What a driver knows of a call that came without a socket. */
export interface InProcessCall {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
  readonly abandoned: boolean;
  readonly traceparent: undefined;
  /** The registration socket that it came by; missing: the CSI socket. */
  readonly via?: string;
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
  readonly registration: RegistrationDefinition;
  /** Where the CSI socket would be. */
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
    const { definitions, registration } = options;
    this.wires = Object.assign({}, registration, ...Object.values(definitions)) as Record<Method, Wire>;
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
    return csiClient((method, request, options) => this.call(method, request, options, undefined));
  }

  /** Where nobody listens: there is no such file. */
  connectElsewhere(endpoint: string): CsiClient {
    return csiClient(async () => {
      throw dialError(endpoint, 'no such file or directory');
    });
  }

  /** To a registration socket, with calls that it does not serve. */
  connectAmiss(): CsiClient {
    return csiClient(async (method) => {
      const { path } = rpcs[method];
      throw new CsiError(Code.UNIMPLEMENTED, `The server does not implement the method ${path}`);
    });
  }

  /** Of the plugin's registration socket at that path. */
  connectRegistration(via: string): RegistrationClient {
    return clientOf(registrationMethods, (method, request, options) =>
      this.call(method, request, options, via),
    ) as RegistrationClient;
  }

  private async call(
    method: Method,
    request: object,
    { timeoutMs, signal }: CallOptions,
    via: string | undefined,
  ): Promise<object> {
    const { server } = this;
    const { clock, turns, socket } = this.options;
    if (!server) throw dialError(via ?? socket, 'connection refused');
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
      ...(via !== undefined && { via }),
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

type Caller<M extends Method> = (method: M, request: object, options: CallOptions) => Promise<object>;

function csiClient(call: Caller<CsiMethod>): CsiClient {
  const unary = methods.filter((method) => !rpcs[method].serverStreaming);
  return clientOf(unary, call) as CsiClient;
}

function clientOf<M extends Method>(names: readonly M[], call: Caller<M>): object {
  const functions = names.map((method) => [
    method,
    (request: object = {}, options: CallOptions = {}) => call(method, request, options),
  ]);
  return { ...Object.fromEntries(functions), close: () => undefined };
}

function dialError(socket: string, why: string): CsiError {
  return new CsiError(
    Code.UNAVAILABLE,
    `connection error: desc = "transport: Error while dialing: dial unix ${socket}: connect: ${why}"`,
  );
}
