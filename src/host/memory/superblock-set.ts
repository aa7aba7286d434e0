import type { DeviceNumber } from '../host';
import type { MemoryLoops } from './loops';
import type { Superblock } from './superblocks';

/** The superblocks in use, each with the number of its mounts. */
export class SuperblockSet {
  private readonly users = new Map<Superblock, number>();
  private nextMinor = 64;

  constructor(private readonly loops: MemoryLoops) {}

  find(matches: (superblock: Superblock) => boolean): Superblock | undefined {
    return [...this.users.keys()].find(matches);
  }

  /** A device number of the kind the kernel makes up for filesystems without a device. */
  anonymousDevice(): DeviceNumber {
    return { major: 0, minor: this.nextMinor++ };
  }

  use(superblock: Superblock): void {
    const users = this.users.get(superblock) ?? 0;
    this.users.set(superblock, users + 1);
    if (users === 0 && superblock.loop !== undefined) this.loops.mountedOn(superblock.loop, 1);
  }

  /** With its last mount a superblock goes, its freeze with it. */
  drop(superblock: Superblock): void {
    const users = this.users.get(superblock) ?? 0;
    if (users > 1) {
      this.users.set(superblock, users - 1);
      return;
    }
    this.users.delete(superblock);
    if (superblock.loop !== undefined) this.loops.mountedOn(superblock.loop, -1);
  }
}
