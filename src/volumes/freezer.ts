import { statSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { type FsType, type Host, HostError } from '../host/host';
import { sameDevice, splitDevice } from '../util/device';
import { ensureFolder, namesIn, removeFile, writeFileAtomic } from '../util/files';
import { keyOf } from '../util/keys';
import type { Log } from '../util/log';

/** A filesystem in use that can be frozen. */
export interface Freezable {
  /** Tells it from others; frozen once for all who ask by one key. */
  key: string;
  /** Finds or makes a mount of it to reach it by. */
  reach(): Promise<Reached>;
}

export interface Reached {
  path: string;
  /** By which a later process can reach it, should the mount be gone by then. */
  disk: Disk;
  /** Lets go of a mount that was made to reach it. */
  leave(): Promise<void>;
}

export interface Disk {
  file: string;
  loopIndex: number | undefined;
  fsType: FsType;
}

/** One superblock's freeze: its holders, and the last of its freezes and thaws, which the next one waits for. */
interface Frozen {
  holders: number;
  last: Promise<void>;
  reached?: Reached;
  /** Frozen by us, and so ours to thaw. */
  ours?: boolean;
}

const BESIDE = 'still-';

/**
 * Holds filesystems still while their disks are copied, so that a copy needs no journal replay. A leaked freeze outlives
 * the process and even an unmount, so each is written to the undo folder before it is done and thawed at the next start.
 */
export class Freezer {
  private readonly frozen = new Map<string, Frozen>();

  constructor(
    private readonly host: Host,
    private readonly undoFolder: string,
    private readonly log: Log,
  ) {}

  /** Runs `work` while the filesystems take no writes. All are frozen before it begins. */
  async withFrozen<T>(wanted: readonly Freezable[], work: () => Promise<T>): Promise<T> {
    const held: string[] = [];
    try {
      for (const freezable of wanted) {
        held.push(freezable.key);
        await this.hold(freezable);
      }
      return await work();
    } finally {
      for (const key of held.reverse()) await this.letGo(key);
    }
  }

  /** Resolves when it is frozen, by this holder or by one before it: two copies of a volume may overlap. */
  private hold(freezable: Freezable): Promise<void> {
    const frozen = this.frozen.get(freezable.key) ?? { holders: 0, last: Promise.resolve() };
    this.frozen.set(freezable.key, frozen);
    frozen.holders += 1;
    if (frozen.holders === 1) frozen.last = after(frozen.last, () => this.freeze(freezable, frozen));
    return frozen.last;
  }

  private async letGo(key: string): Promise<void> {
    const frozen = this.frozen.get(key);
    if (!frozen) return;
    frozen.holders -= 1;
    if (frozen.holders > 0) return;
    frozen.last = after(frozen.last, () => this.thaw(key, frozen));
    await frozen.last;
    if (frozen.holders === 0) this.frozen.delete(key);
  }

  private async freeze({ key, reach }: Freezable, frozen: Frozen): Promise<void> {
    const reached = await reach();
    frozen.reached = reached;
    await this.note(key, reached);
    try {
      await this.host.mounts.freeze(reached.path);
      frozen.ours = true;
    } catch (error) {
      this.forget(key);
      // Somebody froze it already: it is as still as we need it, and it is theirs to thaw.
      if (!(error instanceof HostError && error.errno === 'EBUSY')) throw error;
    }
  }

  private async thaw(key: string, frozen: Frozen): Promise<void> {
    const { reached, ours } = frozen;
    if (!reached) return;
    try {
      if (ours) await this.host.mounts.thaw(reached.path);
      this.forget(key);
    } catch (error) {
      // Thawed by somebody else: the copy was not of one instant, and nothing is left to undo.
      if (error instanceof HostError && error.errno === 'EINVAL') this.forget(key);
      throw error;
    } finally {
      delete frozen.reached;
      delete frozen.ours;
      await reached.leave();
    }
  }

  /** Where a filesystem that is mounted out of reach can be mounted once more, to reach it. */
  placeFor(key: string): string {
    return `${this.undoFolder}/${BESIDE}${keyOf(key)}`;
  }

  /** Thaws what a killed process left frozen. */
  async recover(): Promise<number> {
    let thawed = 0;
    for (const name of namesIn(this.undoFolder)) {
      if (!name.startsWith('freeze-')) continue;
      const file = `${this.undoFolder}/${name}`;
      try {
        const { path, disk } = JSON.parse(await fs.readFile(file, 'utf8')) as { path: string; disk: Disk };
        if (await this.thawLeft(path, disk)) thawed += 1;
      } catch (error) {
        // EINVAL: it was not frozen any more, or never got that far.
        this.log.debug({ file, error: String(error) }, 'nothing to thaw');
      }
      removeFile(file);
    }
    for (const name of namesIn(this.undoFolder))
      if (name.startsWith(BESIDE)) await this.removeMount(`${this.undoFolder}/${name}`);
    return thawed;
  }

  private async removeMount(place: string): Promise<void> {
    try {
      if (await this.host.mounts.at(place)) await this.host.mounts.unmount(place);
      await fs.rmdir(place);
    } catch (error) {
      this.log.warn(
        { place, error: String(error) },
        'a mount that only a snapshot needed could not be removed',
      );
    }
  }

  private async thawLeft(path: string, disk: Disk): Promise<boolean> {
    // Anywhere but at the root of a mount it would be another filesystem's freeze that ends.
    if (await this.host.mounts.at(path)) {
      await this.host.mounts.thaw(path);
      return true;
    }
    if (disk.loopIndex === undefined || !(await this.isOver(disk.loopIndex, disk.file))) return false;
    const loop = await this.host.loops.open(disk.loopIndex);
    if (!loop) return false;
    // Whoever else has the frozen filesystem mounted: one more mount of the device reaches it.
    const target = `${this.undoFolder}/thawing`;
    ensureFolder(target, 0o700);
    try {
      const request = { fsType: disk.fsType, source: loop.path, target, readOnly: false, options: [] };
      await this.host.mounts.mount(request);
      try {
        await this.host.mounts.thaw(target);
      } finally {
        await this.host.mounts.unmount(target);
      }
    } finally {
      await loop.release();
      await fs.rmdir(target).catch(() => undefined);
    }
    return true;
  }

  private async isOver(loopIndex: number, file: string): Promise<boolean> {
    const backing = (await this.host.loops.status(loopIndex))?.backing;
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!backing || !stat) return false;
    return stat.ino === backing.inode && sameDevice(splitDevice(stat.dev), backing.device);
  }

  private file(key: string): string {
    return `${this.undoFolder}/freeze-${keyOf(key)}`;
  }

  private async note(key: string, { path, disk }: Reached): Promise<void> {
    ensureFolder(this.undoFolder, 0o700);
    await writeFileAtomic(this.file(key), JSON.stringify({ path, disk }), 'process');
  }

  private forget(key: string): void {
    removeFile(this.file(key));
  }
}

/** Runs `work` when `last` has ended, however it ended. */
function after(last: Promise<void>, work: () => Promise<void>): Promise<void> {
  return last.then(work, work);
}
