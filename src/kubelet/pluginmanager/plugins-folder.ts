import type { CallOptions } from '../../csi/client';
import type { ClientRequestOf, ClientResponseOf, RegistrationMethod } from '../../csi/rpcs';

/** The service that a plugin serves on its socket here. */
export type RegistrationClient = {
  [M in RegistrationMethod]: (
    request?: ClientRequestOf<M>,
    options?: CallOptions,
  ) => Promise<ClientResponseOf<M>>;
} & { close(): void };

/** What becomes of a connection. `dead`: nobody listens. `silent`: it is taken, and nothing is said. */
export type Listener = 'serving' | 'dead' | 'silent';

/** A socket file that a kubelet sees. */
export interface PluginSocket {
  readonly path: string;
  /** Of those that were there one after the other, which one it is. */
  readonly made: number;
}

interface SocketFile {
  made: number;
  listener: Listener;
  isRemoved: boolean;
  connect(): RegistrationClient;
}

/** A node's `plugins_registry`: whoever registers a plugin puts its socket there, and the kubelet looks for it. */
export class PluginsFolder {
  private readonly files = new Map<string, SocketFile>();
  private readonly watchers = new Set<() => void>();
  private lastMade = 0;

  /** In the order in which they were made first. */
  sockets(): PluginSocket[] {
    return [...this.files]
      .filter(([, { isRemoved }]) => !isRemoved)
      .map(([path, { made }]) => ({ path, made }));
  }

  /** Undefined: there is no such file. */
  listenerAt(path: string): Listener | undefined {
    const file = this.files.get(path);
    return file?.isRemoved === false ? file.listener : undefined;
  }

  connect(path: string): RegistrationClient {
    const file = this.files.get(path);
    if (!file) throw new Error(`expected a socket at ${path}, found none: dial it first`);
    return file.connect();
  }

  /** @returns the function that ends it. */
  watch(changed: () => void): () => void {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  }

  /** Makes a socket; one that was at the path is another one. */
  put(path: string, listener: Listener, connect: () => RegistrationClient): void {
    this.lastMade += 1;
    this.files.set(path, { made: this.lastMade, listener, isRemoved: false, connect });
    this.changed();
  }

  remove(path: string): void {
    if (this.files.delete(path)) this.changed();
  }

  /** The process behind it is killed: its file stays, which no kubelet notices. */
  abandon(path: string): void {
    const file = this.files.get(path);
    if (file) file.listener = 'dead';
  }

  /** Somebody removes the files of plugins that go on. */
  withdraw(): void {
    for (const file of this.files.values()) file.isRemoved = true;
    this.changed();
  }

  /** The plugins make them again. */
  offer(): void {
    for (const file of this.files.values()) {
      if (!file.isRemoved) continue;
      this.lastMade += 1;
      file.made = this.lastMade;
      file.isRemoved = false;
    }
    this.changed();
  }

  private changed(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}
