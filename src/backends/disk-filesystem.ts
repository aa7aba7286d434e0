import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { failedPrecondition } from '../csi/status';
import { FS_TYPES, type FsType, type Host, HostError } from '../host/host';
import { writeNewFile } from '../util/files';
import { KIB } from '../util/quantity';
import type { StageOrder, Steps } from './backend';
import { lost } from './disk-lost';
import { diskSize } from './disk-size';
import { formatDisk } from './format-disk';

/** A filesystem smaller than its device by less than this is as large as it can be: the rest is rounding. */
const GROWABLE = 64n * KIB;

/** How a disk is to be mounted. */
export interface Plan {
  fsType: FsType;
  /** Why the mount will fail, for the answer: the kernel is asked all the same, and its words are added. */
  mismatch?: string;
  /** It is smaller than its disk and grows once it is mounted. */
  growMounted?: boolean;
}

export interface DiskFilesystemOptions {
  host: Host;
  /** Growing a mounted ext4 is possible here (CAP_SYS_RESOURCE). */
  growMountedExt4: boolean;
  chooseFsType(wanted: string): FsType;
}

/** What is on a volume's disk: found out, made, or grown before it is mounted. */
export class DiskFilesystem {
  constructor(private readonly options: DiskFilesystemOptions) {}

  /** Decides the filesystem: what is on the disk wins over a default, a blank disk is formatted, anything else is left alone. */
  async prepare(order: StageOrder, steps: Steps): Promise<Plan> {
    const { host, chooseFsType } = this.options;
    const { volume, at } = order;
    const found = await host.filesystems.probe(at.disk);
    if (found.kind === 'unknown')
      throw failedPrecondition(
        `the disk of volume ${volume.id} is neither blank nor one of ${FS_TYPES.join(', ')}: ${found.what}; ` +
          'it is never formatted over; restore it, or delete the volume',
      );
    if (found.kind === 'blank') {
      const fsType = chooseFsType(order.fsType || volume.fsType);
      await this.format(order, fsType, steps);
      return { fsType };
    }
    const onDisk = FS_TYPES.find((type) => type === found.fsType);
    // A restored or cloned volume keeps the filesystem of its source, whatever default the provisioner added.
    const wanted = order.fsType === '' || volume.source ? onDisk : chooseFsType(order.fsType);
    if (!wanted)
      throw failedPrecondition(
        `the disk of volume ${volume.id} holds ${found.fsType}; expected one of ${FS_TYPES.join(', ')}`,
      );
    if (wanted !== onDisk)
      return { fsType: wanted, mismatch: `fs_type: asked for ${wanted}, but the disk holds ${found.fsType}` };
    await this.renewIdentity(order, wanted, steps);
    return this.planGrowth(order, wanted, found.sizeBytes, steps);
  }

  private async planGrowth(
    order: StageOrder,
    fsType: FsType,
    sizeBytes: bigint,
    steps: Steps,
  ): Promise<Plan> {
    const { host, growMountedExt4 } = this.options;
    const deviceSize = diskSize(BigInt(order.volume.capacityBytes));
    if (order.readOnly || sizeBytes + GROWABLE > deviceSize) return { fsType };
    if (fsType !== 'ext4' || growMountedExt4) return { fsType, growMounted: true };
    // A mount that is there already makes this impossible; it grows when the last one is gone.
    if (order.loop !== undefined) return { fsType };
    try {
      await host.filesystems.growOffline(order.at.disk, fsType);
      steps.effect(`grew ${fsType} to ${deviceSize} bytes before the mount`);
    } catch (error) {
      // A volume that cannot grow can still be used; NodeExpandVolume is where the CO is told.
      if (!(error instanceof HostError)) throw error;
      steps.effect(`could not grow ${fsType}: ${error.message}`);
    }
    return { fsType };
  }

  private async format(order: StageOrder, fsType: FsType, steps: Steps): Promise<void> {
    const { host } = this.options;
    const { volume, at } = order;
    const capacity = BigInt(volume.capacityBytes);
    const minimum = host.filesystems.minimumBytes(fsType);
    if (capacity < minimum)
      throw failedPrecondition(
        `volume ${volume.id} has ${capacity} bytes, too small for ${fsType}: it needs ${minimum}; expand it or use another fs_type`,
      );
    // A device over the file that the copy replaces would go on with the old one.
    if (order.loop !== undefined)
      throw failedPrecondition(
        `volume ${volume.id} is blank and its disk is in use as /dev/loop${order.loop}; it is not formatted before that ends`,
      );
    await this.checkNeverUsed(order, capacity);
    await order.note({ fsType });
    await steps.point('beforeFormat');
    await formatDisk(host, at, capacity, fsType, () => steps.point('formatted'));
    steps.effect(`formatted ${fsType}`);
  }

  /** What was cut off is blank too. (The model keeps the size of a disk beside its file.) */
  private async checkNeverUsed(order: StageOrder, capacity: bigint): Promise<void> {
    if (this.options.host.kind === 'memory') return;
    const { size } = await fs.stat(order.at.disk, { bigint: true });
    if (size < diskSize(capacity))
      throw lost(order, `is blank, with ${size} bytes where ${diskSize(capacity)} belong: it was cut off`);
  }

  /**
   * A copy of a btrfs has the id of its source, and kernels before 6.7 mount one of a kind: it gets one of its own before
   * its first mount. (xfs has `nouuid` for that, and ext4 does not care.)
   */
  private async renewIdentity(order: StageOrder, fsType: FsType, steps: Steps): Promise<void> {
    if (fsType !== 'btrfs' || !order.volume.source || order.loop !== undefined) return;
    const done = `${order.at.disk}.renewed`;
    if (existsSync(done)) return;
    await this.options.host.filesystems.renewIdentity(order.at.disk, fsType);
    await writeNewFile(done, '', 'process');
    steps.effect('gave the copy of a btrfs an id of its own');
  }
}

export function mountOptions(order: StageOrder, fsType: FsType): string[] {
  const options = [...order.mountFlags];
  // A copy of an xfs has the UUID of its source, and the kernel mounts one of a kind. Rewriting it would mean repair.
  if (fsType === 'xfs' && order.volume.source && !options.includes('nouuid')) options.push('nouuid');
  return options;
}
