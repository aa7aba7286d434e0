import { type FsType, type Host, HostError, type LoopDevice } from '../host/host';
import { sameDevice } from '../util/device';
import type { Staged, StageOrder, Steps } from './backend';
import { mountOptions, type Plan } from './disk-filesystem';
import type { DiskLoops } from './disk-loops';
import { letGo } from './let-go';

/** Puts disks on loop devices, and what is on them at staging paths. */
export class DiskMounting {
  constructor(
    private readonly host: Host,
    private readonly loops: DiskLoops,
  ) {}

  /** A loop device over the disk; the one in use already where there is one. */
  async attach(order: StageOrder, autoclear: boolean, steps: Steps): Promise<LoopDevice> {
    const { loops } = this.host;
    await steps.point('beforeAttach');
    const inUse = order.loop === undefined ? null : await loops.open(order.loop);
    const readOnly = order.readOnly || order.device?.readOnly === true;
    const loop = inUse ?? (await loops.attach(order.at.disk, { readOnly, autoclear }));
    try {
      steps.effect(`${inUse ? 'shared' : 'attached'} ${loop.path}`);
      const { readAheadKiB } = order.volume.mutable;
      if (readAheadKiB !== undefined) await loops.setReadAhead(loop.index, Number(readAheadKiB));
      await steps.point('attached');
      return loop;
    } catch (error) {
      await this.detach(loop, inUse === null);
      throw error;
    }
  }

  /** Takes back an `attach` that leads to nothing. `ours`: nobody else uses the device. */
  async detach(loop: LoopDevice, ours: boolean): Promise<void> {
    if (ours) await this.host.loops.detach(loop.index).catch(() => undefined);
    await loop.release();
  }

  /** Attaches the disk and mounts it at the staging path; nothing of either is left when that fails. */
  async mount(order: StageOrder, plan: Plan, steps: Steps): Promise<Staged> {
    // With autoclear the mount holds the device; without a mount, releasing it frees it.
    const loop = await this.attach(order, true, steps);
    try {
      await order.note({ fsType: plan.fsType, loopIndex: loop.index });
      await steps.point('noted');
      return await this.mountDevice(order, plan, loop, steps);
    } finally {
      await loop.release();
    }
  }

  /**
   * What a node that died had only written to its journal cannot be read without replaying that, which a read-only device
   * does not allow (and every snapshot of a mounted xfs needs it). A read-only mount of a writable device does, and
   * writes nothing else.
   */
  async replayJournal({ at, stagingPath }: StageOrder, { fsType }: Plan, steps: Steps): Promise<void> {
    const { loops, mounts } = this.host;
    const options = fsType === 'xfs' ? ['nouuid'] : [];
    const loop = await loops.attach(at.disk, { readOnly: false, autoclear: true });
    try {
      await mounts.mount({ fsType, source: loop.path, target: stagingPath, readOnly: true, options });
      await mounts.unmount(stagingPath);
    } finally {
      await loop.release();
    }
    await this.loops.release(loop.index, at, steps);
    steps.effect(`replayed the journal of ${fsType}`);
  }

  private async mountDevice(order: StageOrder, plan: Plan, loop: LoopDevice, steps: Steps): Promise<Staged> {
    const { mounts } = this.host;
    const { fsType } = plan;
    const target = order.stagingPath;
    await mounts.mount({
      fsType,
      source: loop.path,
      target,
      readOnly: order.readOnly,
      options: mountOptions(order, fsType),
    });
    try {
      steps.effect(`mounted ${loop.path} (${fsType}) at ${target}`);
      await steps.point('mounted');
      const { mount: identity } = await mounts.look(target);
      if (!identity || (fsType !== 'btrfs' && !sameDevice(identity.device, loop.device)))
        throw new HostError(
          'EIO',
          'mount',
          `mounted ${loop.path} at ${target}, but found ${identity ? `device ${identity.device.major}:${identity.device.minor}` : 'nothing'} there`,
        );
      if (plan.growMounted) await this.growAtStage(target, fsType, steps);
      return { fsType, identity, loopIndex: loop.index };
    } catch (error) {
      await letGo(this.host, target);
      throw error;
    }
  }

  /** A volume that cannot grow can still be used; NodeExpandVolume is where the CO is told. */
  private async growAtStage(mountPoint: string, fsType: FsType, steps: Steps): Promise<void> {
    try {
      await this.host.filesystems.growMounted(mountPoint, fsType);
      steps.effect(`grew ${fsType}`);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      steps.effect(`could not grow ${fsType}: ${error.message}`);
    }
  }
}
