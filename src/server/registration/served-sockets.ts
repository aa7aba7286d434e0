import type { Socket } from 'node:net';
import type { RegistrationDefinition } from '../../csi/gen/pluginregistration/Registration';
import type { Log } from '../../util/log';
import type { Pipeline } from '../pipeline';
import type { RegistrationPlace } from './place';
import { RegistrationServer } from './server';
import { type Appearance, RegistrationSockets, type ShownSockets } from './sockets';

export interface ServedOptions {
  place: RegistrationPlace;
  definition: RegistrationDefinition;
  log: Log;
  keepaliveMs: number;
  pipeline(): Pipeline;
  /** Somebody connected, sent so many bytes, and left without a call. */
  spokeAndLeft(bytes: number): void;
}

/** The sockets in the kubelet's folder with the Registration service behind them. */
export class ServedSockets implements ShownSockets {
  private readonly sockets: RegistrationSockets;
  private readonly servers = new Map<string, RegistrationServer>();

  constructor(private readonly options: ServedOptions) {
    const { place, log } = options;
    this.sockets = new RegistrationSockets({
      place,
      log,
      connected: (connection, file) => this.serve(connection, file),
    });
  }

  get appearance(): Appearance {
    return this.sockets.appearance;
  }

  show(main: Appearance, second: boolean): Promise<void> {
    return this.sockets.show(main, second);
  }

  renew(): Promise<void> {
    return this.sockets.renew();
  }

  leave(): void {
    this.sockets.leave();
  }

  close(): void {
    for (const server of this.servers.values()) server.close();
    this.servers.clear();
  }

  private serve(connection: Socket, file: string): void {
    let server = this.servers.get(file);
    if (!server) {
      const { pipeline, definition, keepaliveMs } = this.options;
      server = new RegistrationServer(pipeline(), definition, file, keepaliveMs);
      this.servers.set(file, server);
    }
    server.take(connection);
    this.noticeSilent(connection);
  }

  /** A client whose `:authority` is a path is refused before any of our code runs: it speaks, and makes no call. */
  private noticeSilent(connection: Socket): void {
    const { pipeline, spokeAndLeft } = this.options;
    const before = pipeline().callCount;
    connection.once('close', () => {
      if (connection.bytesRead > 0 && pipeline().callCount === before) spokeAndLeft(connection.bytesRead);
    });
  }
}
