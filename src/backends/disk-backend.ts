import * as fs from 'node:fs/promises';
import { Code, CsiError, failedPrecondition, invalidArgument } from '../csi/status';
import { FS_TYPES, type FsType, type Host, HostError, type LoopDevice } from '../host/host';
import type { Clock } from '../util/clock';
import { sameDevice } from '../util/device';
import { errnoOf } from '../util/files';
import type {
  AccessType,
  Backend,
  BytesAt,
  GrowOrder,
  SizeLimits,
  Staged,
  StageFacts,
  StageNote,
  StageOrder,
  Steps,
  VolumeFacts,
} from './backend';
import { DiskFilesystem, type Plan } from './disk-filesystem';
import { DiskGrowth } from './disk-growth';
import { DiskLoops, LOOP_MAJOR } from './disk-loops';
import { DISK_GRANULE, diskSize } from './disk-size';
import { letGo } from './let-go';

const MAX_BYTES = 2n ** 62n;

export interface DiskBackendOptions {
  name: 'loop' | 'memory';
  host: Host;
  clock: Clock;
  defaultFsType: FsType;
  /** Growing a mounted ext4 is possible here (CAP_SYS_RESOURCE). */
  growMountedExt4: boolean;
}

/**
 * A sparse file, a loop device on it, a filesystem on that. Over the kernel this is the backend `loop`; over the memory
 * twin of the host the same steps are only modelled, and it is called `memory`.
 */
export class DiskBackend implements Backend {
  readonly name: 'loop' | 'memory';
  readonly accessTypes = ['mount', 'block'] as const;
  readonly blockImage = true;
  readonly nodeGrows = true;
  private readonly loops: DiskLoops;
  private readonly filesystem: DiskFilesystem;
  private readonly growth: DiskGrowth;

  constructor(private readonly options: DiskBackendOptions) {
    const { name, host, clock, growMountedExt4 } = options;
    this.name = name;
    this.loops = new DiskLoops(host, clock);
    this.growth = new DiskGrowth(host, this.loops);
    this.filesystem = new DiskFilesystem({
      host,
      growMountedExt4,
      chooseFsType: (wanted) => this.chooseFsType(wanted),
    });
  }

  chooseFsType(wanted: string): FsType {
    if (wanted === '') return this.options.defaultFsType;
    const known = FS_TYPES.find((type) => type === wanted);
    if (!known)
      throw invalidArgument(
        `fs_type: expected one of ${FS_TYPES.join(', ')} (backend ${this.name}), found ${JSON.stringify(wanted)}`,
      );
    return known;
  }

  limits(fsType: string, accessType: AccessType): SizeLimits {
    const minimum =
      accessType === 'block'
        ? DISK_GRANULE
        : this.options.host.filesystems.minimumBytes(this.chooseFsType(fsType));
    return { minimum, maximum: MAX_BYTES };
  }

  async create(
    at: BytesAt,
    capacity: bigint,
    source: BytesAt | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { disks } = this.options.host;
    await fs.rm(at.disk, { force: true });
    if (source) await disks.copySparse(source.disk, at.disk, signal);
    await disks.ensureSize(at.disk, diskSize(capacity));
  }

  async destroy(): Promise<void> {}

  async grow(at: BytesAt, _volume: VolumeFacts, capacity: bigint): Promise<void> {
    await this.options.host.disks.ensureSize(at.disk, diskSize(capacity));
  }

  async copy(_volume: VolumeFacts, from: BytesAt, to: BytesAt, signal: AbortSignal): Promise<void> {
    await this.options.host.disks.copySparse(from.disk, to.disk, signal);
  }

  async stage(order: StageOrder, steps: Steps): Promise<Staged> {
    const { device } = order;
    if (device?.missing !== undefined) return this.stageMissing(order, device.missing, steps);
    await this.checkDisk(order);
    if (device?.disk !== undefined) await this.trySubstitute(order, device.disk, steps);
    return order.accessType === 'block' ? this.stageBlock(order, steps) : this.stageMount(order, steps);
  }

  /** The kernel is asked for a device that is not there, and says so. */
  private async stageMissing(order: StageOrder, device: string, steps: Steps): Promise<never> {
    const { host } = this.options;
    await steps.point('beforeAttach');
    const absent = `special device ${device} does not exist`;
    // A raw device is only looked up.
    if (order.accessType === 'block') throw new HostError('ENOENT', 'stat', `stat: ${absent}`);
    const fsType = this.chooseFsType(order.fsType || order.volume.fsType);
    const { stagingPath: target, readOnly } = order;
    await host.mounts.mount({ fsType, source: device, target, readOnly, options: [] });
    await letGo(host, target);
    throw new Error(`expected that ${absent}, but it was mounted`);
  }

  /**
   * Another image in place of the volume's own disk, which is left alone. It is there to be refused: one that the kernel
   * takes all the same (`noload`) is given back, and the volume is staged as if it had never been.
   * @throws HostError as the kernel refuses it.
   */
  private async trySubstitute(order: StageOrder, disk: string, steps: Steps): Promise<void> {
    const { device: { mountAs } = {} } = order;
    if (mountAs === undefined) return;
    const at = { ...order.at, disk };
    const staged = await this.attachAndMount({ ...order, at, loop: undefined }, { fsType: mountAs }, steps);
    await letGo(this.options.host, order.stagingPath);
    if (staged.loopIndex !== undefined) await this.loops.release(staged.loopIndex, at, steps);
    steps.effect(`the kernel mounted ${disk} all the same: it was unmounted again`);
  }

  /** A disk that is gone is never made anew: an empty volume in place of a lost one would be a lie. */
  private async checkDisk(order: StageOrder): Promise<void> {
    if (!(await fs.stat(order.at.disk).catch(missing))) throw lost(order, 'is gone');
  }

  /**
   * What is wrong with a filesystem on a disk that was cut off, its kernel says best; a raw device would just end. The
   * device tells the size, since the model keeps that of a large disk beside its file.
   */
  private async checkWhole(loopIndex: number, order: StageOrder): Promise<void> {
    const promised = diskSize(BigInt(order.volume.capacityBytes));
    const found = (await this.options.host.loops.status(loopIndex))?.sizeBytes ?? 0n;
    if (found < promised) throw lost(order, `has ${found} bytes where ${promised} belong`);
  }

  private async attach(order: StageOrder, autoclear: boolean, steps: Steps): Promise<LoopDevice> {
    const { loops } = this.options.host;
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

  private async detach(loop: LoopDevice, ours: boolean): Promise<void> {
    if (ours) await this.options.host.loops.detach(loop.index).catch(() => undefined);
    await loop.release();
  }

  private async stageBlock(order: StageOrder, steps: Steps): Promise<Staged> {
    // Nothing mounts a raw device, so nothing but an explicit detach may end it: no autoclear.
    const loop = await this.attach(order, false, steps);
    const ours = loop.index !== order.loop;
    try {
      // A device that is shared takes the size of its file when the volume is grown there.
      if (ours) await this.checkWhole(loop.index, order);
      await order.note({ fsType: '', loopIndex: loop.index });
      await steps.point('noted');
    } catch (error) {
      await this.detach(loop, ours);
      throw error;
    }
    await loop.release();
    return { fsType: '', loopIndex: loop.index, devicePath: loop.path };
  }

  private async stageMount(order: StageOrder, steps: Steps): Promise<Staged> {
    const asked = order.device?.disk === undefined ? order.device?.mountAs : undefined;
    const plan: Plan = asked ? { fsType: asked } : await this.filesystem.prepare(order, steps);
    try {
      return await this.attachAndMount(order, plan, steps);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (plan.mismatch)
        throw failedPrecondition(`${plan.mismatch}; the kernel: ${error.message}`, { cause: error });
      if (order.device || !order.readOnly || order.loop !== undefined) throw error;
      if (!mayNeedReplay(error, plan.fsType)) throw error;
    }
    await this.replayJournal(order, plan, steps);
    return this.attachAndMount(order, plan, steps);
  }

  private async attachAndMount(order: StageOrder, plan: Plan, steps: Steps): Promise<Staged> {
    // With autoclear the mount holds the device; without a mount, releasing it frees it.
    const loop = await this.attach(order, true, steps);
    try {
      await order.note({ fsType: plan.fsType, loopIndex: loop.index });
      await steps.point('noted');
      return await this.mount(order, plan, loop, steps);
    } finally {
      await loop.release();
    }
  }

  /**
   * What a node that died had only written to its journal cannot be read without replaying that, which a read-only device
   * does not allow (and every snapshot of a mounted xfs needs it). A read-only mount of a writable device does, and
   * writes nothing else.
   */
  private async replayJournal(
    { at, stagingPath }: StageOrder,
    { fsType }: Plan,
    steps: Steps,
  ): Promise<void> {
    const { loops, mounts } = this.options.host;
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

  private async mount(order: StageOrder, plan: Plan, loop: LoopDevice, steps: Steps): Promise<Staged> {
    const { mounts } = this.options.host;
    const { fsType } = plan;
    const target = order.stagingPath;
    await mounts.mount({
      fsType,
      source: loop.path,
      target,
      readOnly: order.readOnly,
      options: this.filesystem.mountOptions(order, fsType),
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
      await letGo(this.options.host, target);
      throw error;
    }
  }

  /** A volume that cannot grow can still be used; NodeExpandVolume is where the CO is told. */
  private async growAtStage(mountPoint: string, fsType: FsType, steps: Steps): Promise<void> {
    try {
      await this.options.host.filesystems.growMounted(mountPoint, fsType);
      steps.effect(`grew ${fsType}`);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      steps.effect(`could not grow ${fsType}: ${error.message}`);
    }
  }

  async inspect(stage: StageFacts, at: BytesAt): Promise<Staged | undefined> {
    const { host } = this.options;
    if (stage.capability.accessType === 'block') {
      if (stage.loopIndex === undefined || !(await this.loops.isOver(stage.loopIndex, at))) return undefined;
      const loop = await host.loops.open(stage.loopIndex);
      if (!loop) return undefined;
      await loop.release();
      return { fsType: '', loopIndex: loop.index, devicePath: loop.path };
    }
    const { mount: identity } = await host.mounts.look(stage.stagingPath);
    if (!identity) return undefined;
    let loopIndex: number | undefined;
    if (identity.device.major === LOOP_MAJOR) loopIndex = identity.device.minor;
    else if (stage.mountDevice)
      loopIndex = sameDevice(identity.device, stage.mountDevice) ? stage.loopIndex : undefined;
    // Only where the record was lost, or a kill came before its last writing.
    else loopIndex = await this.loops.inTable(identity.mountId);
    if (loopIndex === undefined || !(await this.loops.isOver(loopIndex, at))) return undefined;
    return { fsType: stage.fsType, identity, loopIndex };
  }

  loopOver(index: number, at: BytesAt): Promise<boolean> {
    return this.loops.isOver(index, at);
  }

  async release(loops: Iterable<number>, at: BytesAt, steps: Steps): Promise<void> {
    for (const index of loops) await this.loops.release(index, at, steps);
  }

  growStaged(order: GrowOrder, steps: Steps): Promise<void> {
    return this.growth.grow(order, this.chooseFsType(order.staged.fsType), steps);
  }

  remount(stage: StageFacts, at: BytesAt): Promise<StageNote> {
    return this.growth.remount(stage, this.chooseFsType(stage.fsType), at);
  }

  async usage(_volume: VolumeFacts, staged: Staged, path: string) {
    const { host } = this.options;
    if (staged.identity) return host.mounts.usage(path);
    const status = staged.loopIndex === undefined ? null : await host.loops.status(staged.loopIndex);
    if (!status) throw new HostError('ENODEV', 'stats', `the loop device of ${path} is gone`);
    return { deviceBytes: status.sizeBytes };
  }
}

/** How a filesystem says that its journal has to be replayed, and its device is read-only. */
function mayNeedReplay({ errno }: HostError, fsType: FsType): boolean {
  return errno === 'EROFS' || (fsType === 'btrfs' && errno === 'EIO');
}

function lost({ volume, at }: StageOrder, what: string): CsiError {
  return new CsiError(
    Code.DATA_LOSS,
    `the disk of volume ${volume.id}, ${at.disk}, ${what}; restore it, or delete the volume`,
  );
}

function missing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
