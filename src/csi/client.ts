import {
  Client,
  credentials,
  type deserialize,
  Metadata,
  type ServiceError,
  type serialize,
} from '@grpc/grpc-js';
import { type CsiDefinitions, loadCsi } from './load';
import { type ClientRequestOf, type ClientResponseOf, type CsiMethod, methods, rpcs } from './rpcs';
import { type Code, CsiError } from './status';

export interface CallOptions {
  /** Milliseconds until the call ends with DEADLINE_EXCEEDED; none by default. */
  timeoutMs?: number;
  /** Cancels the call. */
  signal?: AbortSignal;
}

type StreamingMethod = 'GetMetadataAllocated' | 'GetMetadataDelta';

/** Every RPC of csi.v1 as a method. A streaming one resolves with all its messages. An answer that is not OK is a CsiError. */
export type CsiClient = {
  [M in CsiMethod]: (
    request?: ClientRequestOf<M>,
    options?: CallOptions,
  ) => Promise<M extends StreamingMethod ? ClientResponseOf<M>[] : ClientResponseOf<M>>;
} & { close(): void };

/**
 * A client of any CSI plugin. `socket` is the absolute path of its Unix socket. Connects at the first call. Who makes many
 * clients loads the definitions once.
 */
export function connectCsi(socket: string, services: CsiDefinitions = loadCsi()): CsiClient {
  // Node's HTTP/2 refuses an authority that is a path, which is what grpc-js would send.
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  });
  const definitions = Object.assign({}, ...Object.values(services)) as Record<CsiMethod, WireMethod>;
  const calls = methods.map((method) => [
    method,
    rpcs[method].serverStreaming ? stream(client, definitions[method]) : unary(client, definitions[method]),
  ]);
  return Object.assign(Object.fromEntries(calls), { close: () => client.close() }) as CsiClient;
}

interface WireMethod {
  path: string;
  requestSerialize: serialize<object>;
  responseDeserialize: deserialize<object>;
}

function callOptions(options: CallOptions): { deadline?: number } {
  return options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs };
}

function unary(client: Client, wire: WireMethod) {
  return (request: object = {}, options: CallOptions = {}): Promise<object> =>
    new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        wire.path,
        wire.requestSerialize,
        wire.responseDeserialize,
        request,
        new Metadata(),
        callOptions(options),
        (error, response) => {
          options.signal?.removeEventListener('abort', cancel);
          if (error) reject(asCsiError(error));
          else resolve(response ?? {});
        },
      );
      const cancel = () => call.cancel();
      options.signal?.addEventListener('abort', cancel, { once: true });
    });
}

function stream(client: Client, wire: WireMethod) {
  return (request: object = {}, options: CallOptions = {}): Promise<object[]> =>
    new Promise((resolve, reject) => {
      const messages: object[] = [];
      const call = client.makeServerStreamRequest(
        wire.path,
        wire.requestSerialize,
        wire.responseDeserialize,
        request,
        new Metadata(),
        callOptions(options),
      );
      call.on('data', (message: object) => messages.push(message));
      const cancel = () => call.cancel();
      options.signal?.addEventListener('abort', cancel, { once: true });
      const end = (done: () => void) => {
        options.signal?.removeEventListener('abort', cancel);
        done();
      };
      call.on('error', (error: ServiceError) => end(() => reject(asCsiError(error))));
      call.on('end', () => end(() => resolve(messages)));
    });
}

function asCsiError(error: ServiceError): CsiError {
  return new CsiError(error.code as number as Code, error.details);
}
