import * as fs from 'node:fs/promises';
import { type Host, HostError } from '../host/host';
import { namesIn, removeFile, writeFileAtomic } from '../util/files';
import { keyOf } from '../util/keys';
import type { Log } from '../util/log';

/** One path's freeze: its holders, and the last of its freezes and thaws, which the next one waits for. */
interface Frozen {
  holders: number;
  last: Promise<void>;
}

/**
 * Holds filesystems still while their disks are copied, so that a copy needs no journal replay. A leaked freeze outlives
 * the process and even an unmount, so each is written to the undo folder before it is done and thawed at the next start.
 */
export class Freezer {
  private readonly frozen = new Map<string, Frozen>();
  /** Frozen by us, and so ours to thaw. */
  private readonly noted = new Set<string>();

  constructor(
    private readonly host: Host,
    /** This node's undo folder; undefined in a process that is no node and so has no mounts to freeze. */
    private readonly undoFolder: string | undefined,
    private readonly log: Log,
  ) {}

  /** Runs `work` while the filesystems mounted at `paths` take no writes. All are frozen before it begins. */
  async withFrozen<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
    const held: string[] = [];
    try {
      for (const path of paths) {
        held.push(path);
        await this.hold(path);
      }
      return await work();
    } finally {
      for (const path of held.reverse()) await this.letGo(path);
    }
  }

  /** Resolves when the path is frozen, by this holder or by one before it: two copies of a volume may overlap. */
  private hold(path: string): Promise<void> {
    const frozen = this.frozen.get(path) ?? { holders: 0, last: Promise.resolve() };
    this.frozen.set(path, frozen);
    frozen.holders += 1;
    if (frozen.holders === 1) frozen.last = after(frozen.last, () => this.freeze(path));
    return frozen.last;
  }

  private async letGo(path: string): Promise<void> {
    const frozen = this.frozen.get(path);
    if (!frozen) return;
    frozen.holders -= 1;
    if (frozen.holders > 0) return;
    frozen.last = after(frozen.last, () => this.thaw(path));
    await frozen.last;
    if (frozen.holders === 0) this.frozen.delete(path);
  }

  private async freeze(path: string): Promise<void> {
    await this.note(path);
    try {
      await this.host.mounts.freeze(path);
    } catch (error) {
      this.forget(path);
      // Somebody froze it already: it is as still as we need it, and it is theirs to thaw.
      if (!(error instanceof HostError && error.errno === 'EBUSY')) throw error;
    }
  }

  private async thaw(path: string): Promise<void> {
    if (!this.noted.has(path)) return;
    try {
      await this.host.mounts.thaw(path);
    } catch (error) {
      // Thawed by somebody else: the copy was not of one instant, and nothing is left to undo.
      if (error instanceof HostError && error.errno === 'EINVAL') this.forget(path);
      throw error;
    }
    this.forget(path);
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
        // Anywhere but at the root of a mount it would be another filesystem's freeze that ends.
        if (path !== '' && (await this.host.mounts.at(path))) {
          await this.host.mounts.thaw(path);
          thawed += 1;
        }
      } catch (error) {
        // EINVAL: it was not frozen any more, or never got that far.
        this.log.debug({ path, error: String(error) }, 'nothing to thaw');
      }
      removeFile(file);
    }
    return thawed;
  }

  private async note(path: string): Promise<void> {
    this.noted.add(path);
    if (this.undoFolder === undefined) return;
    try {
      await writeFileAtomic(this.file(path), path, 'process');
    } catch (error) {
      this.noted.delete(path);
      throw error;
    }
  }

  private forget(path: string): void {
    this.noted.delete(path);
    if (this.undoFolder !== undefined) removeFile(this.file(path));
  }

  private file(path: string): string {
    return `${this.undoFolder}/freeze-${keyOf(path)}`;
  }
}

/** Runs `work` when `last` has ended, however it ended. */
function after(last: Promise<void>, work: () => Promise<void>): Promise<void> {
  return last.then(work, work);
}
