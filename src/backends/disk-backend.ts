import * as fs from 'node:fs/promises';
import { failedPrecondition, invalidArgument } from '../csi/status';
import { FS_TYPES, type FsType, type Host, HostError } from '../host/host';
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
import { stageMissing, trySubstitute } from './disk-faults';
import { DiskFilesystem, type Plan } from './disk-filesystem';
import { DiskGrowth } from './disk-growth';
import { DiskLoops, LOOP_MAJOR } from './disk-loops';
import { lost } from './disk-lost';
import { DiskMounting } from './disk-mounting';
import { DISK_GRANULE, diskSize } from './disk-size';

/** The largest power of two that an int64 holds. */
const MAX_BYTES = 2n ** 62n;

export interface DiskBackendOptions {
  name: 'loop' | 'memory';
  host: Host;
  clock: Clock;
  defaultFsType: FsType;
  /** Growing a mounted ext4 is possible here (CAP_SYS_RESOURCE). */
  growMountedExt4: boolean;
  /** Bytes of the largest disk file that there can be. Left out: a model of one has no limit but that of its numbers. */
  largestFile?: () => bigint;
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
  private readonly mounting: DiskMounting;

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
    this.mounting = new DiskMounting(host, this.loops);
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
    return { minimum, maximum: this.options.largestFile?.() ?? MAX_BYTES };
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
    const { host } = this.options;
    const { device } = order;
    if (device?.missing !== undefined) {
      const fsType = this.chooseFsType(order.fsType || order.volume.fsType);
      return stageMissing(host, order, device.missing, fsType, steps);
    }
    await this.checkDisk(order);
    if (device?.disk !== undefined) await trySubstitute(host, this.mounting, order, device, steps);
    return order.accessType === 'block' ? this.stageBlock(order, steps) : this.stageMount(order, steps);
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

  private async stageBlock(order: StageOrder, steps: Steps): Promise<Staged> {
    // Nothing mounts a raw device, so nothing but an explicit detach may end it: no autoclear.
    const loop = await this.mounting.attach(order, false, steps);
    const ours = loop.index !== order.loop;
    try {
      // A device that is shared takes the size of its file when the volume is grown there.
      if (ours) await this.checkWhole(loop.index, order);
      await order.note({ fsType: '', loopIndex: loop.index });
      await steps.point('noted');
    } catch (error) {
      await this.mounting.detach(loop, ours);
      throw error;
    }
    await loop.release();
    return { fsType: '', loopIndex: loop.index, devicePath: loop.path };
  }

  private async stageMount(order: StageOrder, steps: Steps): Promise<Staged> {
    const asked = order.device?.disk === undefined ? order.device?.mountAs : undefined;
    const plan: Plan = asked ? { fsType: asked } : await this.filesystem.prepare(order, steps);
    try {
      return await this.mounting.mount(order, plan, steps);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (plan.mismatch)
        throw failedPrecondition(`${plan.mismatch}; the kernel: ${error.message}`, { cause: error });
      if (order.device || !order.readOnly || order.loop !== undefined) throw error;
      if (!mayNeedReplay(error, plan.fsType)) throw error;
    }
    await this.mounting.replayJournal(order, plan, steps);
    return this.mounting.mount(order, plan, steps);
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

function missing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
