import type { DeviceNumber } from '../host';
import { decodeDevice, LO_FLAGS } from '../libc';

/** `struct loop_info64` (linux/loop.h). */
const INFO_SIZE = 232;
const INFO = { device: 0, inode: 8, flags: 52, fileName: 56, fileNameSize: 64 } as const;

/** `struct loop_config`: fd, block size, info, 8 reserved words. */
const CONFIG_SIZE = 4 + 4 + INFO_SIZE + 64;

/**
 * LOOP_CONFIGURE's argument: the whole file, no partitions, through the page cache (LO_FLAGS_DIRECT_IO would refuse
 * files whose filesystem cannot, and lose the read-ahead).
 */
export function encodeLoopConfig(
  backingFd: number,
  file: string,
  options: { readOnly: boolean; autoclear: boolean },
): Buffer {
  const config = Buffer.alloc(CONFIG_SIZE);
  config.writeUInt32LE(backingFd, 0);
  const info = config.subarray(8, 8 + INFO_SIZE);
  const flags = (options.readOnly ? LO_FLAGS.READ_ONLY : 0) | (options.autoclear ? LO_FLAGS.AUTOCLEAR : 0);
  info.writeUInt32LE(flags, INFO.flags);
  // For losetup(8) only, and cut: /sys has the whole path.
  info.write(file, INFO.fileName, INFO.fileNameSize - 1, 'utf8');
  return config;
}

export function emptyLoopInfo(): Buffer {
  return Buffer.alloc(INFO_SIZE);
}

/** What LOOP_GET_STATUS64 says: the backing file as the kernel knows it now, not as it was named. */
export function decodeLoopInfo(info: Buffer): {
  device: DeviceNumber;
  inode: bigint;
  readOnly: boolean;
  autoclear: boolean;
  fileName: string;
} {
  const flags = info.readUInt32LE(INFO.flags);
  const name = info.subarray(INFO.fileName, INFO.fileName + INFO.fileNameSize);
  const end = name.indexOf(0);
  return {
    device: decodeDevice(info.readBigUInt64LE(INFO.device)),
    inode: info.readBigUInt64LE(INFO.inode),
    readOnly: (flags & LO_FLAGS.READ_ONLY) !== 0,
    autoclear: (flags & LO_FLAGS.AUTOCLEAR) !== 0,
    fileName: name.toString('utf8', 0, end === -1 ? undefined : end),
  };
}
