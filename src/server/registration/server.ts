import type { Socket } from 'node:net';
import { type ConnectionInjector, Server, ServerCredentials } from '@grpc/grpc-js';
import type { RegistrationDefinition } from '../../csi/gen/pluginregistration/Registration';
import { unary } from '../grpc';
import type { Pipeline } from '../pipeline';

/** The Registration service behind one socket. It listens nowhere by itself. */
export class RegistrationServer {
  private readonly grpc: Server;
  private readonly injector: ConnectionInjector;

  constructor(pipeline: Pipeline, definition: RegistrationDefinition, socket: string, keepaliveMs: number) {
    this.grpc = new Server({
      'grpc.keepalive_time_ms': keepaliveMs,
      'grpc.keepalive_timeout_ms': keepaliveMs,
    });
    this.grpc.addService(definition, {
      GetInfo: unary(pipeline, 'GetInfo', socket),
      NotifyRegistrationStatus: unary(pipeline, 'NotifyRegistrationStatus', socket),
    });
    this.injector = this.grpc.createConnectionInjector(ServerCredentials.createInsecure());
  }

  take(connection: Socket): void {
    this.injector.injectConnection(connection);
  }

  close(): void {
    this.injector.destroy();
    this.grpc.forceShutdown();
  }
}
