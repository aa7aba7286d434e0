import { failedPrecondition, outOfRange } from '../csi/status';
import { type FsType, type Host, HostError } from '../host/host';
import type { BytesAt, GrowOrder, StageFacts, StageNote, Steps } from './backend';
import type { DiskLoops } from './disk-loops';
import { diskSize } from './disk-size';

/** Makes a staged volume larger: its file, its loop device, its filesystem. */
export class DiskGrowth {
  constructor(
    private readonly host: Host,
    private readonly loops: DiskLoops,
  ) {}

  /**
   * @throws CsiError FAILED_PRECONDITION for a mounted ext4 that this process may not grow and not unmount either;
   *   OUT_OF_RANGE for a size that no btrfs grows to.
   */
  async grow(order: GrowOrder, fsType: FsType, steps: Steps): Promise<void> {
    const { host } = this;
    const { volume, stage, staged, at } = order;
    if (staged.loopIndex === undefined) throw new HostError('ENODEV', 'grow', 'the stage has no loop device');
    await host.disks.ensureSize(at.disk, diskSize(BigInt(volume.capacityBytes)));
    await host.loops.refreshSize(staged.loopIndex);
    steps.effect(`/dev/loop${staged.loopIndex} is ${volume.capacityBytes} bytes`);
    await steps.point('deviceGrown');
    if (stage.capability.accessType === 'block') return;
    try {
      await host.filesystems.growMounted(stage.stagingPath, fsType);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (error.errno === 'EINVAL' && fsType === 'btrfs')
        throw outOfRange(`volume ${volume.id}: ${error.message}; expand it to that`, { cause: error });
      if (error.errno !== 'EPERM' || fsType !== 'ext4') throw error;
      if (order.inUse)
        throw failedPrecondition(
          `volume ${volume.id}: this kernel grows a mounted ext4 only with the capability CAP_SYS_RESOURCE, which this ` +
            'process lacks; grant it, or unpublish the volume so that it can be grown offline',
          { cause: error },
        );
      await this.growUnmounted(order, staged.loopIndex, fsType, steps);
    }
    steps.effect(`grew ${fsType}`);
  }

  private async growUnmounted(
    { stage, staged, at, note }: GrowOrder,
    loopIndex: number,
    fsType: FsType,
    steps: Steps,
  ): Promise<void> {
    const { host } = this;
    const entry = (await host.mounts.list()).find((mount) => mount.mountId === staged.identity?.mountId);
    if (!entry)
      throw failedPrecondition(`volume ${stage.volumeId} is no longer mounted at ${stage.stagingPath}`);
    const remount = mountWords([...entry.options, ...entry.superOptions]);
    // A kill in between must not leave a staged volume unmounted: the CO would not stage it again.
    await note({ remount });
    await host.mounts.unmount(stage.stagingPath);
    try {
      await steps.point('unmounted');
      await this.loops.release(loopIndex, at, steps);
      await host.filesystems.growOffline(at.disk, fsType);
      await steps.point('grown');
    } finally {
      await note(await this.remount({ ...stage, remount }, fsType, at));
    }
  }

  /** Mounts a stage again that was unmounted for growing. @returns what is to be noted of it. */
  async remount(stage: StageFacts, fsType: FsType, at: BytesAt): Promise<StageNote> {
    const { host } = this;
    const inUse =
      stage.loopIndex !== undefined && (await this.loops.isOver(stage.loopIndex, at))
        ? await host.loops.open(stage.loopIndex)
        : null;
    const loop = inUse ?? (await this.loops.attachOnceUnclaimed(at.disk, { readOnly: stage.readOnly }));
    try {
      await host.mounts.mount({
        fsType,
        source: loop.path,
        target: stage.stagingPath,
        readOnly: stage.readOnly,
        options: stage.remount ?? [],
      });
    } finally {
      await loop.release();
    }
    return { loopIndex: loop.index, remount: undefined };
  }
}

/** A mount table's words as options to mount with again, without those that tell a state (`emergency_ro`). */
function mountWords(words: readonly string[]): string[] {
  return words.filter((word) => !/^(rw|ro|shutdown|emergency_ro|seclabel)$/.test(word));
}
