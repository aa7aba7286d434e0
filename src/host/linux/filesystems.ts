import { randomBytes as cryptoRandomBytes } from 'node:crypto';
import { type Filesystems, type FsType, HostError, type ProbeResult } from '../host';
import { IOCTL, type Libc, O } from '../libc';
import { Limiter } from '../libc/limiter';
import {
  type DiskReader,
  type OpenDisk,
  openDisk,
  probeDisk,
  readError,
  readFully,
  uuidText,
} from '../probe';
import { asHostError } from './disks-errors';
import { dataExtents } from './disks-extents';
import { EXT4_LABEL_BYTES } from './ext4-superblock';
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

/**
 * Measured with xfsprogs 6.1 and btrfs-progs 6.2: one byte less is refused. ext4 can be made on 128 KiB, but holds a
 * dozen files then: the limit leaves room for twenty.
 */
const MINIMUM_BYTES: Readonly<Record<FsType, bigint>> = {
  ext4: 256n << 10n,
  xfs: 300n << 20n,
  btrfs: 109n << 20n,
};

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
        dataExtents: (from) => dataExtents(libc, handle.fd, reader, from),
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

  /** @throws HostError EINVAL, EEXIST when `file` is not what a filesystem may be made in. */
  async function checkFormattable(file: string, fsType: FsType, opened: OpenDisk): Promise<void> {
    const operation = `mkfs.${fsType}`;
    const refuse = (errno: string, why: string) =>
      new HostError(errno, operation, `${operation}: ${file} ${why}`);
    if (!opened.isFile) throw refuse('EINVAL', 'is no regular file');
    if (opened.fileBytes < MINIMUM_BYTES[fsType]) {
      throw refuse(
        'EINVAL',
        `has ${opened.fileBytes} bytes; ${fsType} needs at least ${MINIMUM_BYTES[fsType]}`,
      );
    }
    const found = await probeOpen(file, opened);
    if (found.kind === 'blank') return;
    const what = found.kind === 'filesystem' ? `${found.fsType} ${found.uuid}` : found.what;
    throw refuse('EEXIST', `is not blank, it holds ${what}. Nothing was written`);
  }

  return {
    probe,

    async format(file, fsType, { label = '' } = {}) {
      checkLabel(fsType, label);
      const uuid = randomUuid(randomBytes);
      const opened = await openDisk(file, 'r+');
      try {
        await checkFormattable(file, fsType, opened);
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
      await runTool('e2fsck', { args: ['-fp', file], timeoutMs: FSCK_TIMEOUT_MS, success: FSCK_SUCCESS });
      await runTool('resize2fs', { args: [file], timeoutMs: FSCK_TIMEOUT_MS });
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

const LABEL_BYTES: Readonly<Record<FsType, number>> = { ext4: EXT4_LABEL_BYTES, xfs: 12, btrfs: 255 };

function checkLabel(fsType: FsType, label: string): void {
  const bytes = Buffer.byteLength(label);
  if (bytes <= LABEL_BYTES[fsType]) return;
  const limit = `a label of ${fsType} has at most ${LABEL_BYTES[fsType]} bytes`;
  throw new HostError(
    'EINVAL',
    `mkfs.${fsType}`,
    `mkfs.${fsType}: ${limit}, and this one has ${bytes}: ${label}`,
  );
}

/** A random (version 4) UUID, as its 16 bytes. */
function randomUuid(randomBytes: (size: number) => Buffer): Buffer {
  const uuid = Buffer.from(randomBytes(16));
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x40, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid;
}

async function blockDeviceSize(libc: Libc, fd: number, disk: string): Promise<bigint> {
  const size = Buffer.alloc(8);
  await libc.ioctl(fd, IOCTL.BLKGETSIZE64, size, { operation: 'BLKGETSIZE64', subject: disk });
  return size.readBigUInt64LE();
}
