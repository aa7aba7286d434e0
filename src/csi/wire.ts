import { Client, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';

/** Everything that came back for one call. */
export interface WireAnswer {
  /** 0 is OK; any number a server may have sent. */
  readonly code: number;
  readonly message: string;
  /** Names of the trailers. */
  readonly trailers: readonly string[];
  /** Bytes of each message: one of a unary call that is OK. */
  readonly messages: readonly Buffer[];
}

export interface WireOptions {
  readonly timeoutMs: number;
  /** Waits for a server that is away, until the time is up, instead of UNAVAILABLE at once. */
  readonly waitForReady?: boolean;
}

/** Calls as bytes: for what a client of messages hides, such as trailers, codes of no name and fields of no known number. */
export interface Wire {
  /** @param path as in the :path header. Never rejects: what cannot be reached is UNAVAILABLE. */
  send(path: string, bytes: Buffer, options: WireOptions): Promise<WireAnswer>;
  close(): void;
}

const asIs = (bytes: Buffer) => bytes;

/** `socket` is the absolute path of a plugin's Unix socket. Connects at the first call. */
export function openWire(socket: string): Wire {
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    // Node's HTTP/2 refuses an authority that is a path, which is what grpc-js would send.
    'grpc.default_authority': 'localhost',
    // Of a driver that restarts: found again within a second, not after a minute.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.max_receive_message_length': -1,
  });
  return {
    send: (path, bytes, { timeoutMs, waitForReady = false }) =>
      new Promise((resolve) => {
        const messages: Buffer[] = [];
        // On the wire a unary call is a stream of one message.
        const call = client.makeServerStreamRequest(path, asIs, asIs, bytes, new Metadata({ waitForReady }), {
          deadline: Date.now() + timeoutMs,
        });
        call.on('data', (message: Buffer) => messages.push(message));
        // What it says comes with the status as well.
        call.on('error', () => undefined);
        call.on('status', ({ code, details, metadata }: StatusObject) =>
          resolve({ code, message: details, trailers: Object.keys(metadata.getMap()), messages }),
        );
      }),
    close: () => client.close(),
  };
}
