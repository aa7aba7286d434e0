import type { DeviceNumber } from '../host';

/** The parts of `struct statx` (256 bytes, linux/stat.h) the driver reads. */
export interface Statx {
  /** Type and permission bits, as `st_mode`. */
  mode: number;
  inode: bigint;
  sizeBytes: bigint;
  /** In units of 512 bytes. */
  blocks: bigint;
  /** The filesystem's device number. */
  device: DeviceNumber;
  /** The device a device node stands for. */
  specialDevice: DeviceNumber;
  mountId: bigint;
  attributes: bigint;
  /** Which attributes this kernel and filesystem report at all. */
  attributesMask: bigint;
}

export const STATX_SIZE = 256;

export function decodeStatx(buffer: Buffer): Statx {
  return {
    attributes: buffer.readBigUInt64LE(8),
    mode: buffer.readUInt16LE(28),
    inode: buffer.readBigUInt64LE(32),
    sizeBytes: buffer.readBigUInt64LE(40),
    blocks: buffer.readBigUInt64LE(48),
    attributesMask: buffer.readBigUInt64LE(56),
    specialDevice: { major: buffer.readUInt32LE(128), minor: buffer.readUInt32LE(132) },
    device: { major: buffer.readUInt32LE(136), minor: buffer.readUInt32LE(140) },
    mountId: buffer.readBigUInt64LE(144),
  };
}

/** `struct statfs` of 64-bit architectures (120 bytes). Sizes in blocks of `fragmentSize`. */
export interface Statfs {
  type: bigint;
  blockSize: bigint;
  fragmentSize: bigint;
  blocks: bigint;
  blocksFree: bigint;
  blocksAvailable: bigint;
  files: bigint;
  filesFree: bigint;
  /** ST_* bits: those of the mount and those of the superblock, joined. */
  flags: bigint;
}

export const STATFS_SIZE = 120;

export function decodeStatfs(buffer: Buffer): Statfs {
  const word = (index: number) => buffer.readBigUInt64LE(index * 8);
  const blockSize = word(1);
  const fragmentSize = word(9);
  return {
    type: word(0),
    blockSize,
    // Some filesystems leave f_frsize zero: then statvfs(3) takes f_bsize.
    fragmentSize: fragmentSize === 0n ? blockSize : fragmentSize,
    blocks: word(2),
    blocksFree: word(3),
    blocksAvailable: word(4),
    files: word(5),
    filesFree: word(6),
    flags: word(10),
  };
}

/** `struct mount_attr` version 0: attr_set, attr_clr, propagation, userns_fd. */
export function encodeMountAttr(set: number, clear: number, propagation: number): Buffer {
  const buffer = Buffer.alloc(32);
  buffer.writeBigUInt64LE(BigInt(set), 0);
  buffer.writeBigUInt64LE(BigInt(clear), 8);
  buffer.writeBigUInt64LE(BigInt(propagation), 16);
  return buffer;
}

/** `dev_t` as the kernel's mknod(2) takes it (new_encode_dev). */
export function encodeDevice({ major, minor }: DeviceNumber): number {
  return ((minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)) >>> 0;
}

/** The inverse, for fields that hold a `dev_t` encoded by new_encode_dev or its 64-bit relative. */
export function decodeDevice(encoded: bigint): DeviceNumber {
  return {
    major: Number((encoded >> 8n) & 0xfffn),
    minor: Number((encoded & 0xffn) | ((encoded >> 12n) & 0xfff00n)),
  };
}
