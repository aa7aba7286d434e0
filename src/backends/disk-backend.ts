import * as fs from 'node:fs/promises';
import { failedPrecondition, invalidArgument } from '../csi/status';
import {
  type DeviceNumber,
  FS_TYPES,
  type FsType,
  type Host,
  HostError,
  type LoopDevice,
} from '../host/host';
import type { Clock } from '../util/clock';
import { sameDevice, splitDevice } from '../util/device';
import { errnoOf, removeFile } from '../util/files';
import { KIB } from '../util/quantity';
import {
  type AccessType,
  type Backend,
  type BytesAt,
  type Staged,
  type StageFacts,
  type StageOrder,
  type Steps,
  StillInUse,
  type VolumeFacts,
} from './backend';

/** The kernel counts a loop device in sectors; ext4 and xfs want whole blocks. */
const DISK_GRANULE = 4096n;
const LOOP_MAJOR = 7;
const MAX_BYTES = 2n ** 62n;
/** A filesystem smaller than its device by less than this is as large as it can be: the rest is rounding. */
const GROWABLE = 64n * KIB;
const RELEASE_PATIENCE_MS = 2_000;
const RELEASE_POLL_MS = 5;

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

  constructor(private readonly options: DiskBackendOptions) {
    this.name = options.name;
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

  limits(fsType: string, accessType: AccessType): { minimum: bigint; maximum: bigint } {
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
    const { host } = this.options;
    // A crash may have come between the record and the file, and a clone may be larger than its source.
    const size = diskSize(BigInt(order.volume.capacityBytes));
    const disk = await fs.stat(order.at.disk, { bigint: true }).catch(missing);
    if (!disk || disk.size < size) await host.disks.ensureSize(order.at.disk, size);
    return order.accessType === 'block' ? this.stageBlock(order, steps) : this.stageMount(order, steps);
  }

  private async stageBlock(order: StageOrder, steps: Steps): Promise<Staged> {
    const { loops } = this.options.host;
    await steps.point('beforeAttach');
    const shared = order.sharedLoop === undefined ? null : await loops.open(order.sharedLoop);
    // Nothing mounts a raw device, so nothing but an explicit detach may end it: no autoclear.
    const loop =
      shared ?? (await loops.attach(order.at.disk, { readOnly: order.readOnly, autoclear: false }));
    try {
      steps.effect(`${shared ? 'shared' : 'attached'} ${loop.path}`);
      await this.tune(loop.index, order.volume);
      await steps.point('attached');
      return { fsType: '', loopIndex: loop.index, devicePath: loop.path };
    } catch (error) {
      if (!shared) await loops.detach(loop.index).catch(() => undefined);
      throw error;
    } finally {
      await loop.release();
    }
  }

  private async stageMount(order: StageOrder, steps: Steps): Promise<Staged> {
    const { host } = this.options;
    const { fsType, mismatch, growMounted } = await this.prepareFilesystem(order, steps);
    await steps.point('beforeAttach');
    const shared = order.sharedLoop === undefined ? null : await host.loops.open(order.sharedLoop);
    const loop =
      shared ?? (await host.loops.attach(order.at.disk, { readOnly: order.readOnly, autoclear: true }));
    let mounted = false;
    try {
      steps.effect(`${shared ? 'shared' : 'attached'} ${loop.path}`);
      await this.tune(loop.index, order.volume);
      await steps.point('attached');
      await host.mounts.mount({
        fsType,
        source: loop.path,
        target: order.stagingPath,
        readOnly: order.readOnly,
        options: this.mountOptions(order, fsType),
      });
      mounted = true;
      steps.effect(`mounted ${loop.path} (${fsType}) at ${order.stagingPath}`);
      await steps.point('mounted');
      const { mount: identity } = await host.mounts.look(order.stagingPath);
      if (!identity || (fsType !== 'btrfs' && !sameDevice(identity.device, loop.device)))
        throw new HostError(
          'EIO',
          'mount',
          `mounted ${loop.path} at ${order.stagingPath}, but found ${describe(identity)} there`,
        );
      if (growMounted) await host.filesystems.growMounted(order.stagingPath, fsType);
      return { fsType, identity, loopIndex: loop.index };
    } catch (error) {
      if (mounted) await host.mounts.unmount(order.stagingPath).catch(() => undefined);
      if (mismatch && error instanceof HostError)
        throw failedPrecondition(`${mismatch}; the kernel: ${error.message}`, { cause: error });
      throw error;
    } finally {
      // With autoclear the mount holds the device from here; without a mount this frees it.
      await loop.release();
    }
  }

  /** Decides the filesystem: what is on the disk wins over a default, a blank disk is formatted, anything else is left alone. */
  private async prepareFilesystem(
    order: StageOrder,
    steps: Steps,
  ): Promise<{ fsType: FsType; mismatch?: string; growMounted?: boolean }> {
    const { host } = this.options;
    const found = await host.filesystems.probe(order.at.disk);
    if (found.kind === 'unknown')
      throw failedPrecondition(
        `the disk of volume ${order.volume.id} is neither blank nor one of ${FS_TYPES.join(', ')}: ${found.what}; ` +
          'it is never formatted over; restore it, or delete the volume',
      );
    if (found.kind === 'blank') {
      const fsType = this.chooseFsType(order.fsType || order.volume.fsType);
      await this.format(order, fsType, steps);
      return { fsType };
    }
    const onDisk = FS_TYPES.find((type) => type === found.fsType);
    // A restored or cloned volume keeps the filesystem of its source, whatever default the provisioner added.
    const wanted = order.fsType === '' || order.volume.source ? onDisk : this.chooseFsType(order.fsType);
    if (!wanted)
      throw failedPrecondition(
        `the disk of volume ${order.volume.id} holds ${found.fsType}; expected one of ${FS_TYPES.join(', ')}`,
      );
    if (wanted !== onDisk)
      return { fsType: wanted, mismatch: `fs_type: asked for ${wanted}, but the disk holds ${found.fsType}` };
    const deviceSize = diskSize(BigInt(order.volume.capacityBytes));
    if (order.readOnly || found.sizeBytes + GROWABLE > deviceSize) return { fsType: wanted };
    if (wanted !== 'ext4' || this.options.growMountedExt4) return { fsType: wanted, growMounted: true };
    // Another node's mount of it makes this impossible; it grows when the last one is gone.
    if (order.sharedLoop !== undefined) return { fsType: wanted };
    await host.filesystems.growOffline(order.at.disk, wanted);
    steps.effect(`grew ${wanted} to ${deviceSize} bytes before the mount`);
    return { fsType: wanted };
  }

  /**
   * Formats a copy and renames it into place, so that a disk holds a whole filesystem or none: an mkfs that was killed
   * half-way may already have written its magic.
   */
  private async format(order: StageOrder, fsType: FsType, steps: Steps): Promise<void> {
    const { host } = this.options;
    const capacity = BigInt(order.volume.capacityBytes);
    const { minimum } = this.limits(fsType, 'mount');
    if (capacity < minimum)
      throw failedPrecondition(
        `volume ${order.volume.id} has ${capacity} bytes, too small for ${fsType}: it needs ${minimum}; expand it or use another fs_type`,
      );
    const fresh = `${order.at.disk}.formatting`;
    await steps.point('beforeFormat');
    try {
      removeFile(fresh);
      await host.disks.ensureSize(fresh, diskSize(capacity));
      await host.filesystems.format(fresh, fsType);
      await steps.point('formatted');
      await fs.rename(fresh, order.at.disk);
    } catch (error) {
      removeFile(fresh);
      throw error;
    }
    steps.effect(`formatted ${fsType}`);
  }

  private mountOptions(order: StageOrder, fsType: FsType): string[] {
    const options = [...order.mountFlags];
    // A copy of an xfs has the UUID of its source, and the kernel mounts one of a kind. Rewriting it would mean repair.
    if (fsType === 'xfs' && order.volume.source && !options.includes('nouuid')) options.push('nouuid');
    return options;
  }

  private async tune(loopIndex: number, volume: VolumeFacts): Promise<void> {
    const { readAheadKiB } = volume.mutable;
    if (readAheadKiB !== undefined)
      await this.options.host.loops.setReadAhead(loopIndex, Number(readAheadKiB));
  }

  async inspect(stage: StageFacts, at: BytesAt): Promise<Staged | undefined> {
    const { host } = this.options;
    if (stage.capability.accessType === 'block') {
      if (stage.loopIndex === undefined || !(await this.isOurs(stage.loopIndex, at))) return undefined;
      const loop = await host.loops.open(stage.loopIndex);
      if (!loop) return undefined;
      await loop.release();
      return { fsType: '', loopIndex: loop.index, devicePath: loop.path };
    }
    const { mount: identity } = await host.mounts.look(stage.stagingPath);
    if (!identity) return undefined;
    const loopIndex = await this.loopUnder(identity.device, stage);
    if (loopIndex === undefined || !(await this.isOurs(loopIndex, at))) return undefined;
    return { fsType: stage.fsType, identity, loopIndex };
  }

  /** The loop device under a mount. ext4 and xfs have its number; btrfs has numbers of its own. */
  private async loopUnder(device: DeviceNumber, stage: StageFacts): Promise<number | undefined> {
    if (device.major === LOOP_MAJOR) return device.minor;
    if (stage.mountDevice) return sameDevice(device, stage.mountDevice) ? stage.loopIndex : undefined;
    // Only where the record was lost, or a kill came before its second writing.
    const entry = (await this.options.host.mounts.list()).findLast(
      (mount) => mount.mountPoint === stage.stagingPath,
    );
    const index = /^\/dev\/loop(\d+)$/.exec(entry?.source ?? '')?.[1];
    return index === undefined ? undefined : Number(index);
  }

  /** A loop device is ours by the inode behind it: names and numbers are reused. */
  private async isOurs(loopIndex: number, at: BytesAt): Promise<boolean> {
    const status = await this.options.host.loops.status(loopIndex);
    if (!status) return false;
    const file = await fs.stat(at.disk, { bigint: true }).catch(() => undefined);
    return (
      file !== undefined &&
      status.backing.inode === file.ino &&
      sameDevice(status.backing.device, splitDevice(file.dev))
    );
  }

  async unstage(
    stage: StageFacts,
    staged: Staged | undefined,
    at: BytesAt,
    keepDevice: boolean,
    steps: Steps,
  ): Promise<void> {
    const { host } = this.options;
    if (stage.capability.accessType === 'mount' && staged?.identity) {
      await host.mounts.unmount(stage.stagingPath);
      steps.effect(`unmounted ${stage.stagingPath}`);
      await steps.point('unmounted');
    }
    const index = staged?.loopIndex ?? stage.loopIndex;
    if (index !== undefined && !keepDevice) await this.releaseLoop(index, at, steps);
  }

  /**
   * The unmount of a path says nothing about the disk: a pod's own mount namespace, or a process with an open file,
   * keeps the superblock alive, and a second one over the same disk would destroy it.
   */
  private async releaseLoop(index: number, at: BytesAt, steps: Steps): Promise<void> {
    const { host, clock } = this.options;
    const deadline = clock.monotonic() + RELEASE_PATIENCE_MS;
    while (await this.isOurs(index, at)) {
      await host.loops.detach(index);
      if (!(await this.isOurs(index, at))) break;
      if (clock.monotonic() > deadline)
        throw new StillInUse(
          `/dev/loop${index} is still in use: a process, or a mount in another mount namespace, holds the volume`,
        );
      await clock.sleep(RELEASE_POLL_MS);
    }
    steps.effect(`released /dev/loop${index}`);
  }

  async growStaged(
    volume: VolumeFacts,
    stage: StageFacts,
    staged: Staged,
    at: BytesAt,
    inUse: boolean,
    steps: Steps,
  ): Promise<void> {
    const { host } = this.options;
    if (staged.loopIndex === undefined) throw new HostError('ENODEV', 'grow', 'the stage has no loop device');
    await host.disks.ensureSize(at.disk, diskSize(BigInt(volume.capacityBytes)));
    await host.loops.refreshSize(staged.loopIndex);
    steps.effect(`/dev/loop${staged.loopIndex} is ${volume.capacityBytes} bytes`);
    await steps.point('deviceGrown');
    if (stage.capability.accessType === 'block') return;
    const fsType = this.chooseFsType(staged.fsType);
    try {
      await host.filesystems.growMounted(stage.stagingPath, fsType);
    } catch (error) {
      if (!(error instanceof HostError && error.errno === 'EPERM' && fsType === 'ext4')) throw error;
      if (inUse)
        throw failedPrecondition(
          `volume ${volume.id}: this kernel grows a mounted ext4 only with the capability CAP_SYS_RESOURCE, which this ` +
            'process lacks; grant it, or unpublish the volume so that it can be grown offline',
          { cause: error },
        );
      await this.growUnmounted(stage, at, fsType, steps);
    }
    steps.effect(`grew ${fsType}`);
  }

  private async growUnmounted(stage: StageFacts, at: BytesAt, fsType: FsType, steps: Steps): Promise<void> {
    const { host } = this.options;
    const entry = (await host.mounts.list()).findLast((mount) => mount.mountPoint === stage.stagingPath);
    const before = await this.inspect(stage, at);
    if (!entry || before?.loopIndex === undefined)
      throw failedPrecondition(`volume ${stage.volumeId} is no longer mounted at ${stage.stagingPath}`);
    await host.mounts.unmount(stage.stagingPath);
    let loop: LoopDevice | undefined;
    try {
      await this.releaseLoop(before.loopIndex, at, steps);
      await host.filesystems.growOffline(at.disk, fsType);
    } finally {
      try {
        loop = await host.loops.attach(at.disk, { readOnly: stage.readOnly, autoclear: true });
        await host.mounts.mount({
          fsType,
          source: loop.path,
          target: stage.stagingPath,
          readOnly: stage.readOnly,
          options: entry.options.filter((word) => word !== 'rw' && word !== 'ro'),
        });
      } finally {
        await loop?.release();
      }
    }
  }

  async usage(_volume: VolumeFacts, staged: Staged, path: string) {
    const { host } = this.options;
    if (staged.identity) return host.mounts.usage(path);
    const status = staged.loopIndex === undefined ? null : await host.loops.status(staged.loopIndex);
    if (!status) throw new HostError('ENODEV', 'stats', `the loop device of ${path} is gone`);
    return { deviceBytes: status.sizeBytes };
  }
}

/** The file's size for a capacity: whole blocks, never less than was promised. */
export function diskSize(capacity: bigint): bigint {
  return ((capacity + DISK_GRANULE - 1n) / DISK_GRANULE) * DISK_GRANULE;
}

function describe(identity: { device: { major: number; minor: number } } | null): string {
  return identity ? `device ${identity.device.major}:${identity.device.minor}` : 'nothing';
}

function missing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
