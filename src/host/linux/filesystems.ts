import { randomBytes as cryptoRandomBytes } from 'node:crypto';
import { type Filesystems, HostError, type ProbeResult } from '../host';
import { IOCTL, type Libc, O } from '../libc';
import { Limiter } from '../libc/limiter';
import {
  checkFormattable,
  checkLabel,
  type DiskReader,
  MINIMUM_BYTES,
  type OpenDisk,
  openDisk,
  probeDisk,
  randomUuid,
  readError,
  readFully,
  uuidText,
} from '../probe';
import { claimed } from './disk-claim';
import { asHostError } from './disks-errors';
import { dataExtents, wholeExtent } from './disks-extents';
import { createExt4Templates } from './ext4-template';
import { writeExt4 } from './ext4-write';
import { renewFsid } from './filesystems-btrfs';
import { growBtrfs, growExt4, growXfs } from './filesystems-grow';
import { createToolRunner, type RunTool } from './filesystems-tools';

export interface FilesystemsDependencies {
  libc: Libc;
  /** Where sparse files of a filesystem's size may be made for a moment. Made when it is not there. */
  cacheDir: string;
  /** Source of UUIDs (default: the kernel's). */
  randomBytes?: (size: number) => Buffer;
  /** How programs are run (default: forked). */
  runTool?: RunTool;
}

/** Reads of disks in libuv's pool at once: a disk that hangs keeps its thread, and must not keep them all. */
const READS_AT_ONCE = 3;

const MKFS_TIMEOUT_MS = 60_000;
/** A check and a growth read all metadata: minutes on a slow disk. */
const FSCK_TIMEOUT_MS = 300_000;
/** 0: clean. 1: errors corrected. 2: corrected, and it should be mounted anew, which it is not (e2fsck(8)). */
const FSCK_SUCCESS = [0, 1, 2];

export function createFilesystems(deps: FilesystemsDependencies): Filesystems {
  const { libc } = deps;
  const randomBytes = deps.randomBytes ?? cryptoRandomBytes;
  const runTool = deps.runTool ?? createToolRunner();
  const templates = createExt4Templates({ libc, cacheDir: deps.cacheDir, runTool });
  const reads = new Limiter(READS_AT_ONCE);

  async function probeOpen(disk: string, { handle, isFile, fileBytes }: OpenDisk): Promise<ProbeResult> {
    let position = 0n;
    try {
      const reader: DiskReader = {
        sizeBytes: isFile ? fileBytes : await blockDeviceSize(libc, handle.fd, disk),
        read: (offset, length) => {
          position = offset;
          return reads.run(() => readFully(handle, offset, length));
        },
        dataExtents: (from) => dataExtents(libc, handle.fd, reader, from, wholeExtent),
      };
      return await probeDisk(reader);
    } catch (error) {
      throw readError(disk, position, error);
    }
  }

  async function probe(disk: string): Promise<ProbeResult> {
    const opened = await reads.run(() => openDisk(disk, 'r'));
    try {
      return await probeOpen(disk, opened);
    } finally {
      await opened.handle.close();
    }
  }

  return {
    probe,

    async format(file, fsType, { label = '' } = {}) {
      checkLabel(fsType, label);
      const uuid = randomUuid(randomBytes);
      const opened = await openDisk(file, 'r+');
      try {
        if (!opened.isFile) {
          throw new HostError('EINVAL', `mkfs.${fsType}`, `mkfs.${fsType}: ${file} is no regular file`);
        }
        await checkFormattable(file, fsType, opened.fileBytes, () => probeOpen(file, opened));
        if (fsType === 'ext4') {
          await templates.use(opened.fileBytes, (template) =>
            writeExt4(opened.handle, template, { uuid, label }),
          );
          return;
        }
      } catch (error) {
        throw asHostError(`mkfs.${fsType}`, file, error);
      } finally {
        await opened.handle.close();
      }
      const identity = fsType === 'xfs' ? ['-m', `uuid=${uuidText(uuid, 0)}`] : ['-U', uuidText(uuid, 0)];
      const named = label === '' ? [] : ['-L', label];
      const args = ['-q', '-K', ...identity, ...named, file];
      await runTool(`mkfs.${fsType}`, { args, timeoutMs: MKFS_TIMEOUT_MS });
    },

    minimumBytes: (fsType) => MINIMUM_BYTES[fsType],

    async growMounted(mountPoint, fsType) {
      const grow = { ext4: growExt4, xfs: growXfs, btrfs: growBtrfs }[fsType];
      const fd = await libc.open(mountPoint, O.RDONLY | O.DIRECTORY | O.CLOEXEC);
      try {
        await grow(libc, { fd, mountPoint });
      } finally {
        await libc.close(fd);
      }
    },

    async growOffline(file, fsType) {
      if (fsType !== 'ext4') {
        const why = `${fsType} grows only while it is mounted`;
        throw new HostError('EINVAL', 'growOffline', `growOffline: ${file}: ${why}`);
      }
      const timeoutMs = FSCK_TIMEOUT_MS;
      await claimed(libc, file, async (fd) => {
        await runTool('e2fsck', { args: ['-fp', file], timeoutMs, success: FSCK_SUCCESS, fd });
        await runTool('resize2fs', { args: [file], timeoutMs, fd });
      });
    },

    async renewIdentity(file, fsType) {
      if (fsType !== 'btrfs') return;
      const opened = await openDisk(file, 'r+');
      try {
        await renewFsid(file, opened, randomUuid(randomBytes));
      } catch (error) {
        throw asHostError('renewIdentity', file, error);
      } finally {
        await opened.handle.close();
      }
    },
  };
}

async function blockDeviceSize(libc: Libc, fd: number, disk: string): Promise<bigint> {
  const size = Buffer.alloc(8);
  await libc.ioctl(fd, IOCTL.BLKGETSIZE64, size, { operation: 'BLKGETSIZE64', subject: disk });
  return size.readBigUInt64LE();
}
