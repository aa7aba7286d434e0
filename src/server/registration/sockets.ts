import type { Socket } from 'node:net';
import type { Log } from '../../util/log';
import { checkSocketLength } from '../endpoint';
import { UnixSocket } from '../socket';
import type { RegistrationPlace, SocketPlace } from './place';

/**
 * How the kubelet finds the plugin. `serving`: as it should be. `absent`: no socket, so that it de-registers. `dead`: a
 * file that nobody listens on. `silent`: connections are taken and nothing is said.
 */
export type Appearance = 'serving' | 'absent' | 'dead' | 'silent';

export interface SocketsOptions {
  place: RegistrationPlace;
  log: Log;
  /** Looks after a connection to the socket of that path. */
  connected(connection: Socket, file: string): void;
}

interface Shown {
  readonly appearance: Appearance;
  readonly socket: UnixSocket;
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
      shown?.socket.abandon();
      shown?.socket.destroyConnections();
    }
    this.main = undefined;
    this.second = undefined;
  }

  private async make(
    { file, fresh, words }: SocketPlace,
    appearance: Appearance,
  ): Promise<Shown | undefined> {
    if (appearance === 'absent') return undefined;
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
    if (appearance === 'dead') socket.abandon();
    return { appearance, socket };
  }

  private async remove(shown: Shown | undefined): Promise<void> {
    await shown?.socket.stopAccepting();
    // Whoever is connected still speaks to a plugin that is no more.
    if (shown?.appearance !== 'serving') shown?.socket.destroyConnections();
  }
}
