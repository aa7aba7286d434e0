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
import { type CsiDefinitions, loadCsi } from '../csi/load';
import { methods, type RequestOf, type ResponseOf, rpcs } from '../csi/rpcs';
import { Code, CsiError } from '../csi/status';
import type { StreamingMethod, UnaryMethod } from '../services/index';
import type { Incoming, Pipeline } from './pipeline';

/** A status message travels in a header; clients refuse headers that are too large. */
const MAX_MESSAGE_CHARACTERS = 2_000;

/**
 * A gRPC server whose five services all lead into the pipeline. It listens nowhere yet: server/socket.ts does.
 *
 * A session that HTTP/2 gave up on (a frame it cannot take) says nothing and keeps its descriptor; only a ping that is
 * not answered finds it. Idle sessions are never closed: sidecars end themselves when they lose their connection.
 */
export function makeGrpcServer(
  pipeline: Pipeline,
  keepaliveMs: number,
  definitions: CsiDefinitions = loadCsi(),
): Server {
  const server = new Server({
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs,
  });
  for (const [service, definition] of Object.entries(definitions)) {
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

/** @param via the socket, where a process has several for this service. */
export function unary<M extends UnaryMethod>(
  pipeline: Pipeline,
  method: M,
  via?: string,
): handleUnaryCall<RequestOf<M>, ResponseOf<M>> {
  return (call, callback) => {
    pipeline.unary(method, call.request, new GrpcIncoming(call, via)).then(
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
    const arrived = new GrpcIncoming(call);
    const send = (response: ResponseOf<M>) =>
      new Promise<void>((resolve) => {
        // A full buffer means that the client reads slowly; one that has gone will never drain.
        if (call.write(response) || arrived.signal.aborted) return resolve();
        call.once('drain', resolve);
        arrived.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    pipeline.stream(method, call.request, arrived, send).then(
      () => call.end(),
      (error: unknown) => call.emit('error', asStatus(error)),
    );
  };
}

const CANCELLED = new CsiError(Code.CANCELLED, 'the client cancelled the call');
const LATE = new CsiError(Code.DEADLINE_EXCEEDED, "the client's deadline passed");
/** The transport's timer and the clock may differ by this much. */
const TIMER_SLACK_MS = 20;

type AnyCall = ServerUnaryCall<object, object> | ServerWritableStream<object, object>;

/**
 * What the transport knows, read when it is asked for: most calls never look. grpc-js also says 'cancelled' when a call
 * ends in the ordinary way, so an abort means something only while the call runs.
 */
class GrpcIncoming implements Incoming {
  private controller: AbortController | undefined;

  constructor(
    private readonly call: AnyCall,
    readonly via?: string,
  ) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      const controller = new AbortController();
      this.controller = controller;
      const abort = () => controller.abort((this.timeoutMs ?? Infinity) <= TIMER_SLACK_MS ? LATE : CANCELLED);
      if (this.call.cancelled) abort();
      else this.call.on('cancelled', abort);
    }
    return this.controller.signal;
  }

  get abandoned(): boolean {
    return this.call.cancelled;
  }

  get timeoutMs(): number | undefined {
    const deadline = this.call.getDeadline();
    const at = deadline instanceof Date ? deadline.getTime() : deadline;
    return Number.isFinite(at) ? Math.max(0, at - Date.now()) : undefined;
  }

  get traceparent(): string | undefined {
    const [value] = this.call.metadata.get('traceparent');
    return typeof value === 'string' ? value : undefined;
  }
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
