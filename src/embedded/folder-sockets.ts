import type { PluginsFolder, RegistrationClient } from '../kubelet/pluginmanager/plugins-folder';
import type { RegistrationFiles } from '../server/registration/registration';
import type { Appearance, ShownSockets } from '../server/registration/sockets';

export interface FolderSocketsOptions {
  readonly folder: PluginsFolder;
  readonly place: RegistrationFiles;
  /** To the driver, by the socket of that path. */
  connect(file: string): RegistrationClient;
}

/** A driver's registration sockets in the folder of a kubelet that is in the same process. One driver's life. */
export class FolderSockets implements ShownSockets {
  appearance: Appearance = 'absent';
  private second = false;

  /** What a killed driver left is removed, as its next process does first of all. */
  constructor(private readonly options: FolderSocketsOptions) {
    const { folder, place } = options;
    for (const { file } of [place.socket, place.second]) folder.remove(file);
  }

  async show(main: Appearance, second: boolean): Promise<void> {
    const { socket, second: other } = this.options.place;
    if (main !== this.appearance) this.make(socket.file, main);
    this.appearance = main;
    if (second !== this.second) this.make(other.file, second ? 'serving' : 'absent');
    this.second = second;
  }

  async renew(): Promise<void> {
    this.make(this.options.place.socket.file, this.appearance);
  }

  leave(): void {
    const { folder, place } = this.options;
    for (const { file } of [place.socket, place.second]) folder.abandon(file);
  }

  /** Connections are those of the driver, and end with it. */
  close(): void {}

  private make(file: string, appearance: Appearance): void {
    const { folder, connect } = this.options;
    folder.remove(file);
    if (appearance !== 'absent') folder.put(file, appearance, () => connect(file));
  }
}
