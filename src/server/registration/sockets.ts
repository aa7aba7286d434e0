import * as fs from 'node:fs/promises';
import * as net from 'node:net';
import * as path from 'node:path';
import type { Log } from '../../util/log';
import { checkSocketLength } from '../endpoint';
import { UnixSocket } from '../socket';
import type { RegistrationPlace, SocketPlace } from './place';

/**
 * How the kubelet finds the plugin. `serving`: as it should be. `absent`: no socket, so that it de-registers. `dead`: a
 * file that nobody listens on. `silent`: connections are taken and nothing is said.
 */
export type Appearance = 'serving' | 'absent' | 'dead' | 'silent';

/** What stands for the sockets in a kubelet's plugins_registry. Not to be called again before it is done. */
export interface ShownSockets {
  readonly appearance: Appearance;
  /** @param second another socket of the same driver, beside the first. */
  show(main: Appearance, second: boolean): Promise<void>;
  /** Removes the socket and makes it again: a kubelet that has refused looks at it anew. */
  renew(): Promise<void>;
  /** Ends as a killed process does: the files stay. */
  leave(): void;
  /** Cuts off who is connected. */
  close(): void;
}

export interface SocketsOptions {
  place: RegistrationPlace;
  log: Log;
  /** Looks after a connection to the socket of that path. */
  connected(connection: net.Socket, file: string): void;
}

interface Shown {
  readonly appearance: Appearance;
  /** Undefined: a file that nobody listens on. */
  readonly socket: UnixSocket | undefined;
  readonly file: string;
}

/**
 * The sockets in the kubelet's plugins_registry. Every change is one that it notices: it heeds only files that come and
 * go, so that a socket which is to be something else is removed and made anew. Not to be called again before it is done.
 */
export class RegistrationSockets {
  private main: Shown | undefined;
  private second: Shown | undefined;

  constructor(private readonly options: SocketsOptions) {}

  get appearance(): Appearance {
    return this.main?.appearance ?? 'absent';
  }

  async show(main: Appearance, second: boolean): Promise<void> {
    const { place } = this.options;
    if (this.appearance !== main) {
      await this.remove(this.main);
      this.main = undefined;
      this.main = await this.make(place.socket, main);
    }
    if ((this.second !== undefined) === second) return;
    await this.remove(this.second);
    this.second = undefined;
    if (second) {
      checkSocketLength(place.second.file, `a second registration socket ${place.second.file}`);
      this.second = await this.make(place.second, 'serving');
    }
  }

  /** Removes the socket and makes it again: a kubelet that has refused looks at it anew. */
  async renew(): Promise<void> {
    const { appearance } = this;
    await this.show('absent', this.second !== undefined);
    await this.show(appearance, this.second !== undefined);
  }

  /** Ends as a killed process does: the files stay. */
  leave(): void {
    for (const shown of [this.main, this.second]) {
      shown?.socket?.abandon();
      shown?.socket?.destroyConnections();
    }
    this.main = undefined;
    this.second = undefined;
  }

  private async make(place: SocketPlace, appearance: Appearance): Promise<Shown | undefined> {
    if (appearance === 'absent') return undefined;
    const { file, fresh, words } = place;
    if (appearance === 'dead') {
      await makeDead(place);
      return { appearance, file, socket: undefined };
    }
    const { log, connected } = this.options;
    const socket = new UnixSocket({
      file,
      fresh,
      words,
      log,
      onConnection: (connection) => {
        if (appearance === 'serving') connected(connection, file);
        else connection.resume();
      },
    });
    await socket.listen();
    return { appearance, file, socket };
  }

  private async remove(shown: Shown | undefined): Promise<void> {
    if (!shown) return;
    const { appearance, socket, file } = shown;
    if (!socket) return fs.rm(file, { force: true });
    await socket.stopAccepting();
    // Calls that run may end; a silent one has none.
    if (appearance === 'silent') socket.destroyConnections();
  }
}

/** A socket's file as a killed process leaves it. Nobody ever finds a listener behind it. */
async function makeDead({ file, fresh, dead }: SocketPlace): Promise<void> {
  const folder = path.dirname(file);
  const bound = path.join(folder, fresh);
  const closed = path.join(folder, dead);
  await fs.rm(bound, { force: true });
  // Closing waits for connections: somebody may have looked at the other name.
  const server = net.createServer((connection) => connection.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(bound, resolve);
  });
  await fs.chmod(bound, 0o600);
  // Closing removes the name that it was bound under.
  await fs.rename(bound, closed);
  await new Promise((resolve) => server.close(resolve));
  await fs.rename(closed, file);
}
