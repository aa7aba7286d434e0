import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { type DeviceNumber, HostError } from '../host';
import { isErrno, type Libc } from '../libc';
import { readFully } from '../probe';
import { EXT_SUPERBLOCK_OFFSET, EXT_SUPERBLOCK_SIZE, extBlocksCount, extSmallestGroup } from '../probe/ext';

/** _IOW('f', 16, __u64): the new number of blocks (fs/ext4/ext4.h). */
const EXT4_IOC_RESIZE_FS = 0x40086610;
/** _IOR('X', 100, struct xfs_fsop_geom_v1), 112 bytes (fs/xfs/libxfs/xfs_fs.h). */
const XFS_IOC_FSGEOMETRY_V1 = 0x80705864;
const XFS_GEOMETRY_SIZE = 112;
/** _IOW('X', 110, struct xfs_growfs_data): u64 blocks, u32 percentage of inodes, padding. */
const XFS_IOC_FSGROWFSDATA = 0x4010586e;
/** _IOW(0x94, 3, struct btrfs_ioctl_vol_args): s64 fd, then the new size as text (include/uapi/linux/btrfs.h). */
const BTRFS_IOC_RESIZE = 0x50009403;
const BTRFS_VOL_ARGS_SIZE = 4096;
/** _IOWR(0x94, 30, struct btrfs_ioctl_dev_info_args): u64 id, 16 bytes uuid, u64 used, u64 total, …, path at 3072. */
const BTRFS_IOC_DEV_INFO = 0xd000941e;
const BTRFS_DEV_INFO_SIZE = 4096;
const BTRFS_DEV_INFO_TOTAL = 32;
const BTRFS_DEV_INFO_PATH = 3072;
/** A filesystem of ours is on one device. */
const BTRFS_FIRST_DEVICE = 1n;
const BTRFS_SECTOR = 4096n;

/** A mounted filesystem by an open descriptor of its root. */
export interface Mounted {
  fd: number;
  mountPoint: string;
}

export async function growExt4(libc: Libc, mounted: Mounted): Promise<void> {
  const { device } = await libc.fstatx(mounted.fd);
  const { blockSize } = await libc.fstatfs(mounted.fd);
  const blocks = (await deviceSize(device)) / blockSize;
  const argument = Buffer.alloc(8);
  argument.writeBigUInt64LE(blocks);
  const about = { operation: 'EXT4_IOC_RESIZE_FS', subject: mounted.mountPoint };
  try {
    await libc.ioctl(mounted.fd, EXT4_IOC_RESIZE_FS, argument, about);
  } catch (error) {
    if (!isErrno(error, 'EPERM')) throw error;
    // The kernel asks for the capability before it looks whether there is anything to do.
    if (!(await canGrow(device, blocks))) return;
    throw new HostError(
      'EPERM',
      about.operation,
      `EXT4_IOC_RESIZE_FS: ${mounted.mountPoint}: EPERM: only a process with CAP_SYS_RESOURCE may grow a mounted ext4, and this one lacks it. ` +
        'Give the container that capability (`privileged: true` does), or expand the volume while no pod uses it',
    );
  }
}

/** Whether a device of `blocks` blocks has room that its ext4 could use. A device that cannot be read might have. */
async function canGrow(device: DeviceNumber, blocks: bigint): Promise<boolean> {
  const node = path.join('/dev', path.basename(await fs.realpath(sysfsFolder(device))));
  const handle = await fs.open(node, 'r').catch(() => undefined);
  if (handle === undefined) return true;
  try {
    const superblock = await readFully(handle, BigInt(EXT_SUPERBLOCK_OFFSET), EXT_SUPERBLOCK_SIZE);
    return blocks - extBlocksCount(superblock) >= extSmallestGroup(superblock);
  } finally {
    await handle.close();
  }
}

/** Number of bytes of a block device, from sysfs, which needs no device node. */
async function deviceSize(device: DeviceNumber): Promise<bigint> {
  const sectors = await fs.readFile(path.join(sysfsFolder(device), 'size'), 'utf8');
  return BigInt(sectors.trim()) * 512n;
}

const sysfsFolder = ({ major, minor }: DeviceNumber) => `/sys/dev/block/${major}:${minor}`;

/** Already as large: nothing to do, which the ioctl of older kernels answers with EINVAL. */
export async function growXfs(libc: Libc, mounted: Mounted): Promise<void> {
  const geometry = Buffer.alloc(XFS_GEOMETRY_SIZE);
  await libc.ioctl(mounted.fd, XFS_IOC_FSGEOMETRY_V1, geometry, {
    operation: 'XFS_IOC_FSGEOMETRY_V1',
    subject: mounted.mountPoint,
  });
  const blockSize = geometry.readUInt32LE(0);
  const inodePercentage = geometry.readUInt32LE(28);
  const blocks = geometry.readBigUInt64LE(32);
  const { device } = await libc.fstatx(mounted.fd);
  const wanted = (await deviceSize(device)) / BigInt(blockSize);
  if (wanted <= blocks) return;
  const argument = Buffer.alloc(16);
  argument.writeBigUInt64LE(wanted, 0);
  argument.writeUInt32LE(inodePercentage, 8);
  await libc.ioctl(mounted.fd, XFS_IOC_FSGROWFSDATA, argument, {
    operation: 'XFS_IOC_FSGROWFSDATA',
    subject: mounted.mountPoint,
  });
}

/**
 * The kernel refuses every resize to less than 256 MiB, even to the size there is (fs/btrfs/ioctl.c).
 * @throws HostError EINVAL when there is room on such a small device that cannot be used.
 */
export async function growBtrfs(libc: Libc, mounted: Mounted): Promise<void> {
  const argument = Buffer.alloc(BTRFS_VOL_ARGS_SIZE);
  argument.write('max', 8, 'latin1');
  const about = { operation: 'BTRFS_IOC_RESIZE', subject: mounted.mountPoint };
  try {
    await libc.ioctl(mounted.fd, BTRFS_IOC_RESIZE, argument, about);
  } catch (error) {
    if (!isErrno(error, 'EINVAL')) throw error;
    const { used, device } = await btrfsSizes(libc, mounted);
    if (device - used < BTRFS_SECTOR) return;
    throw new HostError(
      'EINVAL',
      about.operation,
      `BTRFS_IOC_RESIZE: ${mounted.mountPoint}: EINVAL: a btrfs grows to 256 MiB or more only, and its device has ${device} bytes`,
    );
  }
}

/** Bytes of its device that a btrfs uses, and that the device has. The st_dev of a btrfs tells nothing of the device. */
async function btrfsSizes(
  libc: Libc,
  { fd, mountPoint }: Mounted,
): Promise<{ used: bigint; device: bigint }> {
  const info = Buffer.alloc(BTRFS_DEV_INFO_SIZE);
  info.writeBigUInt64LE(BTRFS_FIRST_DEVICE);
  await libc.ioctl(fd, BTRFS_IOC_DEV_INFO, info, { operation: 'BTRFS_IOC_DEV_INFO', subject: mountPoint });
  const name = path.basename(info.toString('utf8', BTRFS_DEV_INFO_PATH).replace(/\0.*$/s, ''));
  const sectors = await fs.readFile(`/sys/class/block/${name}/size`, 'utf8');
  return { used: info.readBigUInt64LE(BTRFS_DEV_INFO_TOTAL), device: BigInt(sectors.trim()) * 512n };
}
