import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { type Method, rpcs } from '../../src/csi/rpcs';
import type { TestDriver } from '../support/driver';

export interface RawAnswer {
  code: number;
  message: string;
  /** Names of the trailers that came with a refusal. */
  trailers: string[];
  /** The message's bytes; undefined when there was none. */
  bytes: Buffer | undefined;
}

/** Sends bytes as they are, and tells everything that comes back. */
export async function sendRaw(driver: TestDriver, path: string, bytes: Buffer): Promise<RawAnswer> {
  const client = new Client(`unix:${driver.driver.socketPath}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  });
  const asIs = (value: Buffer) => value;
  try {
    return await new Promise((resolve) => {
      client.makeUnaryRequest(path, asIs, asIs, bytes, new Metadata(), (error: ServiceError | null, value) =>
        resolve({
          code: error?.code ?? 0,
          message: error?.details ?? '',
          trailers: Object.keys(error?.metadata?.getMap() ?? {}),
          bytes: value,
        }),
      );
    });
  } finally {
    client.close();
  }
}

export const pathOf = (method: Method) => rpcs[method].path;
