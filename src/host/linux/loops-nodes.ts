import { type BigIntStats, promises as fs, fstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../util/files';
import { type DeviceNumber, HostError } from '../host';
import { decodeDevice, IOCTL, isErrno, type Libc, O, S_IF, ST } from '../libc';

/** A device node that was opened: the caller closes `fd`. */
export interface OpenNode {
  fd: number;
  path: string;
  device: DeviceNumber;
}

/** The block major of loop devices, and the misc device that hands them out (Documentation/admin-guide/devices.txt). */
export const LOOP_MAJOR = 7;
const LOOP_CONTROL: DeviceNumber = { major: 10, minor: 237 };

/** Permission bits of the nodes we make: as udev's, less the group. */
const NODE_MODE = 0o600;

/**
 * Device nodes of loop devices. A container's /dev is often a static tmpfs that holds the nodes of the day it started
 * (kind, docker): a device the kernel has then has no node. We make it, in /dev or, where that cannot be written, in a
 * folder of our own.
 */
export class LoopNodes {
  private replacements = 0;

  constructor(
    private readonly libc: Libc,
    /** Where /dev is, and where the nodes go that it cannot take. */
    private readonly folders: { dev: string; own: string },
  ) {}

  /** @throws HostError ENXIO or ENODEV when the kernel has no such device. */
  openLoop(index: number, flags: number): Promise<OpenNode> {
    const usual = { major: LOOP_MAJOR, minor: index };
    return this.open(`loop${index}`, {
      type: S_IF.BLK,
      // Its open waits for whoever configures the device, and so for the disk of the file behind it.
      open: (path) => this.libc.open(path, flags | O.NONBLOCK),
      is: (device) => isSame(device, usual) || isSame(device, deviceInSys(index)),
      device: () => deviceInSys(index) ?? usual,
    });
  }

  /** LOOP_CTL_GET_FREE: the index of a device nothing is attached to, made when there is none. */
  async freeIndex(): Promise<number> {
    const control = await this.open('loop-control', {
      type: S_IF.CHR,
      open: async (path) => this.libc.openSync(path, O.RDWR),
      is: (device) => isSame(device, LOOP_CONTROL),
      device: () => LOOP_CONTROL,
    });
    try {
      const about = { operation: 'LOOP_CTL_GET_FREE', subject: control.path };
      return await this.libc.ioctl(control.fd, IOCTL.LOOP_CTL_GET_FREE, 0, about);
    } finally {
      this.libc.closeSync(control.fd);
    }
  }

  private async open(name: string, wanted: Wanted): Promise<OpenNode> {
    const { dev, own } = this.folders;
    let refusal: HostError;
    try {
      return await this.openOrMake(dev, name, wanted);
    } catch (error) {
      if (!(await this.isNoPlace(dev, error))) throw error;
      refusal = error as HostError;
    }
    try {
      await fs.mkdir(own, { recursive: true, mode: 0o700 });
      await this.replaceStale(join(own, name), wanted);
      return await this.openOrMake(own, name, wanted);
    } catch (error) {
      if (error instanceof HostError && !(await this.isNoPlace(own, error))) throw error;
      throw unavailable(name, refusal, error as Error);
    }
  }

  private async openOrMake(folder: string, name: string, wanted: Wanted): Promise<OpenNode> {
    const path = join(folder, name);
    return (await this.openExisting(path, wanted)) ?? (await this.openMade(path, wanted));
  }

  /**
   * Our own folder outlives a boot, and what its names stood for then. What is not the device's node is not even opened,
   * and its place is taken in one step: others may be opening the same name.
   */
  private async replaceStale(path: string, wanted: Wanted): Promise<void> {
    let found: BigIntStats;
    try {
      found = await fs.lstat(path, { bigint: true });
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return;
      throw error;
    }
    if (isNodeOf(found, wanted)) return;
    const fresh = `${path}.${process.pid}.${this.replacements++}`;
    // A process that was killed here had the same name, should its pid have come round again.
    await fs.rm(fresh, { force: true });
    await this.libc.mknod(fresh, wanted.type | NODE_MODE, wanted.device());
    try {
      await fs.rename(fresh, path);
    } catch (error) {
      await fs.rm(fresh, { force: true });
      throw error;
    }
  }

  /** Whether the error is about the folder, and not about the device. */
  private async isNoPlace(folder: string, error: unknown): Promise<boolean> {
    if (!isErrno(error, 'EACCES')) return isErrno(error, 'EPERM', 'EROFS', 'ENOENT', 'ENOSPC', 'EEXIST');
    // On nodev, nodes open for nobody. A read-only device opened for writing gives the same errno.
    return (Number((await this.libc.statfs(folder)).flags) & ST.NODEV) !== 0;
  }

  /** Null when there is no node, or one of something else: a static /dev may hold anything under the name. */
  private async openExisting(path: string, wanted: Wanted): Promise<OpenNode | null> {
    let fd: number;
    try {
      fd = await wanted.open(path);
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
    // An open node's inode is in memory.
    const stat = fstatSync(fd, { bigint: true });
    if (isNodeOf(stat, wanted)) return { fd, path, device: decodeDevice(stat.rdev) };
    await this.libc.close(fd);
    return null;
  }

  private async openMade(path: string, wanted: Wanted): Promise<OpenNode> {
    try {
      await this.libc.mknod(path, wanted.type | NODE_MODE, wanted.device());
    } catch (error) {
      // Somebody else made it meanwhile: udev, or another of us.
      if (!isErrno(error, 'EEXIST')) throw error;
    }
    const node = await this.openExisting(path, wanted);
    if (node !== null) return node;
    throw new HostError('EEXIST', 'mknod', `mknod: ${path}: EEXIST: something else than the device is there`);
  }
}

function unavailable(name: string, refusal: HostError, error: Error): HostError {
  return new HostError(
    error instanceof HostError ? error.errno : 'ENOENT',
    'mknod',
    `mknod: ${name} has no node and none can be made: ${refusal.message}; ${error.message}. ` +
      "Mount the host's /dev into the container, or run it privileged with a state folder that allows device nodes",
  );
}

/** The device a node must stand for. */
interface Wanted {
  type: number;
  open(path: string): Promise<number>;
  is(device: DeviceNumber): boolean;
  device(): DeviceNumber;
}

function isNodeOf({ mode, rdev }: BigIntStats, wanted: Wanted): boolean {
  return (Number(mode) & S_IF.MT) === wanted.type && wanted.is(decodeDevice(rdev));
}

function isSame(a: DeviceNumber, b: DeviceNumber | null): boolean {
  return a.major === b?.major && a.minor === b.minor;
}

/** The minor is the index only while the loop module's max_part is 0: the kernel's own word counts. */
function deviceInSys(index: number): DeviceNumber | null {
  try {
    // /sys answers from memory: it never waits.
    const [major, minor] = readFileSync(`/sys/block/loop${index}/dev`, 'utf8').trim().split(':').map(Number);
    return major === undefined || minor === undefined ? null : { major, minor };
  } catch {
    return null;
  }
}
