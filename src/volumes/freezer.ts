import * as fs from 'node:fs/promises';
import { type Host, HostError } from '../host/host';
import { namesIn, writeFileAtomic } from '../util/files';
import { keyOf } from '../util/keys';
import type { Log } from '../util/log';

/**
 * Holds filesystems still while their disks are copied, so that a copy needs no journal replay. A leaked freeze outlives
 * the process and even an unmount, so each is written to the undo folder before it is done and thawed at the next start.
 */
export class Freezer {
  private readonly frozen = new Map<string, number>();

  constructor(
    private readonly host: Host,
    /** This node's undo folder; undefined in a process that is no node and so has no mounts to freeze. */
    private readonly undoFolder: string | undefined,
    private readonly log: Log,
  ) {}

  /** Runs `work` while the filesystems mounted at `paths` take no writes. All are frozen before it begins. */
  async withFrozen<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
    const done: string[] = [];
    try {
      for (const path of paths) {
        await this.freeze(path);
        done.push(path);
      }
      return await work();
    } finally {
      for (const path of done.reverse()) await this.thaw(path);
    }
  }

  private async freeze(path: string): Promise<void> {
    const holders = this.frozen.get(path) ?? 0;
    this.frozen.set(path, holders + 1);
    if (holders > 0) return;
    try {
      await this.note(path);
      await this.host.mounts.freeze(path);
    } catch (error) {
      this.frozen.delete(path);
      // Somebody froze it already: it is as still as we need it, and it is theirs to thaw.
      const theirs = error instanceof HostError && error.errno === 'EBUSY';
      await this.forget(path);
      if (!theirs) throw error;
    }
  }

  private async thaw(path: string): Promise<void> {
    const holders = this.frozen.get(path);
    if (holders === undefined) return;
    if (holders > 1) {
      this.frozen.set(path, holders - 1);
      return;
    }
    this.frozen.delete(path);
    await this.host.mounts.thaw(path);
    await this.forget(path);
  }

  /** Thaws what a killed process left frozen. */
  async recover(): Promise<number> {
    if (this.undoFolder === undefined) return 0;
    let thawed = 0;
    for (const name of namesIn(this.undoFolder)) {
      if (!name.startsWith('freeze-')) continue;
      const file = `${this.undoFolder}/${name}`;
      const path = await fs.readFile(file, 'utf8').catch(() => '');
      try {
        if (path !== '') await this.host.mounts.thaw(path);
        thawed += 1;
      } catch (error) {
        // EINVAL: it was not frozen any more, or never got that far.
        this.log.debug({ path, error: String(error) }, 'nothing to thaw');
      }
      await fs.rm(file, { force: true });
    }
    return thawed;
  }

  private file(path: string): string {
    return `${this.undoFolder}/freeze-${keyOf(path)}`;
  }

  private async note(path: string): Promise<void> {
    if (this.undoFolder !== undefined) await writeFileAtomic(this.file(path), path, 'process');
  }

  private async forget(path: string): Promise<void> {
    if (this.undoFolder !== undefined) await fs.rm(this.file(path), { force: true });
  }
}
