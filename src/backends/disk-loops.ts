import * as fs from 'node:fs/promises';
import { type Host, HostError, type LoopDevice } from '../host/host';
import type { Clock } from '../util/clock';
import { sameDevice, splitDevice } from '../util/device';
import { type BytesAt, type Steps, StillInUse } from './backend';

export const LOOP_MAJOR = 7;
const RELEASE_PATIENCE_MS = 2_000;
const RELEASE_POLL_MS = 5;
/** e2fsck and resize2fs read all metadata; on a disk that is slow they take so long. */
const CLAIM_PATIENCE_MS = 60_000;
const CLAIM_POLL_MS = 20;
const HOLDERS_TOLD = 3;

/** The loop devices over the disks of volumes: which one is whose, and the end of one. */
export class DiskLoops {
  constructor(
    private readonly host: Host,
    private readonly clock: Clock,
  ) {}

  /** Whether a loop device is over this very disk, told by the inode behind it: names and numbers are reused. */
  async isOver(index: number, at: BytesAt): Promise<boolean> {
    return (await this.relation(index, at)) === 'over';
  }

  /** `gone`: over a file that had the disk's name, and was removed. */
  private async relation(index: number, at: BytesAt): Promise<'over' | 'gone' | 'other'> {
    const status = await this.host.loops.status(index);
    if (!status) return 'other';
    const { backing } = status;
    const file = await fs.stat(at.disk, { bigint: true }).catch(() => undefined);
    if (file && backing.inode === file.ino && sameDevice(backing.device, splitDevice(file.dev)))
      return 'over';
    return backing.path === `${at.disk} (deleted)` ? 'gone' : 'other';
  }

  /** The loop device that a mount table names as the source of what is mounted: btrfs has device numbers of its own. */
  async inTable(mountId: bigint): Promise<number | undefined> {
    const entry = (await this.host.mounts.list()).find((mount) => mount.mountId === mountId);
    return loopIndexOf(entry?.source ?? '');
  }

  /**
   * Attaches a disk that an earlier driver may have been growing when it was killed: the programs that it started go on.
   * @throws HostError EAGAIN when they do not end.
   */
  async attachOnceUnclaimed(disk: string, options: { readOnly: boolean }): Promise<LoopDevice> {
    const deadline = this.clock.monotonic() + CLAIM_PATIENCE_MS;
    for (;;) {
      try {
        return await this.host.loops.attach(disk, { ...options, autoclear: true });
      } catch (error) {
        const claimed = error instanceof HostError && error.errno === 'EAGAIN';
        if (!claimed || this.clock.monotonic() > deadline) throw error;
      }
      await this.clock.sleep(CLAIM_POLL_MS);
    }
  }

  /**
   * Detaches a disk's loop device and sees to it that it is gone. The unmount of a path says nothing about the disk: a
   * pod's own mount namespace, or a process with an open file, keeps the superblock alive, and a second one over the same
   * disk would destroy it.
   * @throws StillInUse
   */
  async release(index: number, at: BytesAt, steps: Steps): Promise<void> {
    const deadline = this.clock.monotonic() + RELEASE_PATIENCE_MS;
    for (;;) {
      if ((await this.relation(index, at)) === 'other') break;
      await this.host.loops.detach(index);
      if ((await this.relation(index, at)) === 'other') break;
      if (this.clock.monotonic() > deadline)
        throw new StillInUse(`/dev/loop${index} is still in use: ${await this.holders(index)}`);
      await this.clock.sleep(RELEASE_POLL_MS);
    }
    steps.effect(`released /dev/loop${index}`);
  }

  private async holders(index: number): Promise<string> {
    const found = await this.host.loops.holders(index).catch(() => []);
    const told = found.slice(0, HOLDERS_TOLD).join('; ');
    if (found.length > HOLDERS_TOLD) return `${told}; and ${found.length - HOLDERS_TOLD} more`;
    return told || 'a process, or a mount in another mount namespace, holds the volume';
  }
}

/** N of `/dev/loopN`, or of such a device of the model, which keeps its own in a folder that exists nowhere. */
export function loopIndexOf(devicePath: string): number | undefined {
  const index = /^\/dev\/(?:fake-csi-memory\/)?loop(\d+)$/.exec(devicePath)?.[1];
  return index === undefined ? undefined : Number(index);
}
