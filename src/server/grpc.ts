import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadCsi } from '../csi/load';
import { methods, type RequestOf, type ResponseOf, rpcs } from '../csi/rpcs';
import { CsiError } from '../csi/status';
import type { StreamingMethod, UnaryMethod } from '../services/index';
import type { Incoming, Pipeline } from './pipeline';

/** A status message travels in a header; clients refuse headers that are too large. */
const MAX_MESSAGE_CHARACTERS = 2_000;

/** A gRPC server whose five services all lead into the pipeline. It listens nowhere yet: server/socket.ts does. */
export function makeGrpcServer(pipeline: Pipeline): Server {
  const server = new Server();
  for (const [service, definition] of Object.entries(loadCsi())) {
    const own = methods.filter((method) => rpcs[method].service === service);
    const implementation: UntypedServiceImplementation = Object.fromEntries(
      own.map((method) => [
        method,
        rpcs[method].serverStreaming
          ? streaming(pipeline, method as StreamingMethod)
          : unary(pipeline, method as UnaryMethod),
      ]),
    );
    server.addService(definition, implementation);
  }
  return server;
}

function unary<M extends UnaryMethod>(
  pipeline: Pipeline,
  method: M,
): handleUnaryCall<RequestOf<M>, ResponseOf<M>> {
  return (call, callback) => {
    pipeline.unary(method, call.request, incoming(call)).then(
      (response) => callback(null, response),
      (error: unknown) => callback(asStatus(error)),
    );
  };
}

function streaming<M extends StreamingMethod>(
  pipeline: Pipeline,
  method: M,
): handleServerStreamingCall<RequestOf<M>, ResponseOf<M>> {
  return (call) => {
    const arrived = incoming(call);
    const send = (response: ResponseOf<M>) =>
      new Promise<void>((resolve) => {
        // A full buffer means that the client reads slowly; one that has gone will never drain.
        if (call.write(response) || arrived.signal.aborted) return resolve();
        call.once('drain', resolve);
        arrived.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    pipeline.stream(method, call.request, arrived, send).then(
      () => call.end(),
      (error: unknown) => call.destroy(asStatus(error)),
    );
  };
}

type AnyCall = ServerUnaryCall<object, object> | ServerWritableStream<object, object>;

function incoming(call: AnyCall): Incoming {
  const controller = new AbortController();
  call.on('cancelled', () =>
    controller.abort(new CsiError(1, 'the client cancelled the call, or its deadline passed')),
  );
  const deadline = call.getDeadline();
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  const [traceparent] = call.metadata.get('traceparent');
  return {
    timeoutMs: Number.isFinite(at) ? Math.max(0, at - Date.now()) : undefined,
    signal: controller.signal,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  };
}

function asStatus(error: unknown): Error & { code: status; details: string; metadata: Metadata } {
  const { code, message } =
    error instanceof CsiError ? error : { code: status.INTERNAL, message: String(error) };
  // Well-formed text only: a lone surrogate cannot be percent-encoded into the header.
  const details = Buffer.from(message.slice(0, MAX_MESSAGE_CHARACTERS), 'utf8').toString('utf8');
  return Object.assign(new Error(details), {
    code: code as number as status,
    details,
    metadata: new Metadata(),
  });
}
