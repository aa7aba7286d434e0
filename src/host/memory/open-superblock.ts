import * as fs from 'node:fs/promises';
import { FS_TYPES, type FsType, HostError } from '../host';
import { explainCreate } from '../linux/mounts-explain';
import type { MountWords } from '../linux/mounts-words';
import { withDisk } from './disk';
import { DAMAGED_MEMORY_FILESYSTEM, probeMemoryDisk } from './filesystems';
import { type Loop, loopDeviceNumber, type MemoryLoops } from './loops';
import { refusedOption, tmpfsSize } from './options';
import type { SuperblockSet } from './superblock-set';
import type { Superblock } from './superblocks';
import { failure } from './table';

/** A tmpfs without `size=`: Linux takes half of the memory, a model the same everywhere. */
const DEFAULT_TMPFS_BYTES = 1n << 30n;
const PAGE_SIZE = 4096;

export interface MountRequest {
  fsType: string;
  source: string;
  target: string;
  readOnly: boolean;
  words: MountWords;
}

/**
 * The superblock that a mount asks for, counted as used: the one in use already when the device is mounted.
 * @throws HostError ENODEV, ENOENT, ENOTBLK, EACCES, EBUSY, EINVAL with the kernel's reason in words.
 */
export async function openSuperblock(
  request: MountRequest,
  loops: MemoryLoops,
  superblocks: SuperblockSet,
): Promise<Superblock> {
  const { fsType, source, target, words } = request;
  const known = [...FS_TYPES, 'tmpfs' as const].find((type) => type === fsType);
  if (known === undefined) throw failure('ENODEV', 'mount', target, `the memory host has no type ${fsType}`);
  const refused = refusedOption(known, words);
  if (refused !== undefined) {
    const text = failure('EINVAL', 'mount', target, `${fsType}: Unknown parameter '${refused}'`);
    throw new HostError(text.errno, text.operation, text.message, refused);
  }
  const options = words.filesystem.map(({ key, value }) => (value === undefined ? key : `${key}=${value}`));
  const use = (superblock: Superblock) => {
    superblocks.use(superblock);
    return superblock;
  };
  if (known === 'tmpfs') return use(openTmpfs(request, superblocks, options));

  const loop = loops.byPath(source);
  if (loop === undefined) throw await noDevice(request);
  const made = await readSuperblock(request, known, loop, superblocks, options);
  // Looked for after the disk was read: from here to its being counted nobody can come between.
  const present = superblocks.find((superblock) => superblock.loop === loop.index);
  if (present !== undefined) return use(sharedWith(present, request));
  refuseTwin(made, request, superblocks);
  return use(made);
}

function openTmpfs(
  { target, readOnly, words }: MountRequest,
  superblocks: SuperblockSet,
  options: string[],
): Superblock {
  const asked = words.filesystem.some(({ key }) => key === 'size');
  const size = tmpfsSize(words);
  if (asked && size === undefined) {
    const text = failure('EINVAL', 'mount', target, "tmpfs: Bad value for 'size'");
    throw new HostError(text.errno, text.operation, text.message, 'size');
  }
  return {
    fsType: 'tmpfs',
    device: superblocks.anonymousDevice(),
    loop: undefined,
    uuid: '',
    sizeBytes: size ?? DEFAULT_TMPFS_BYTES,
    blockSize: PAGE_SIZE,
    readOnly,
    frozen: false,
    options,
    data: { bytes: 0n, inodes: 0n },
  };
}

function sharedWith(present: Superblock, { source, target, readOnly }: MountRequest): Superblock {
  if (present.readOnly === readOnly) return present;
  const other = present.readOnly ? 'read-only' : 'read-write';
  throw failure('EBUSY', 'mount', target, `${source} is mounted already, ${other}`);
}

/** xfs refuses a second filesystem with a UUID that is mounted, unless asked not to look. */
function refuseTwin({ fsType, uuid }: Superblock, request: MountRequest, superblocks: SuperblockSet): void {
  if (fsType !== 'xfs' || request.words.filesystem.some(({ key }) => key === 'nouuid')) return;
  if (superblocks.find((other) => other.fsType === 'xfs' && other.uuid === uuid) === undefined) return;
  throw refusal(request, 'EINVAL', `Filesystem has duplicate UUID ${uuid} - can't mount`);
}

/** A mount that fails when its superblock is made, in the words of a real one. */
function refusal(request: MountRequest, errno: string, why?: string): HostError {
  const kernelText = why === undefined ? [] : [why];
  return explainCreate(new HostError(errno, 'mount', errno), { ...request, optionKeys: [], kernelText });
}

/** What each type says of a superblock that is there and cannot be believed. */
const DAMAGED: Readonly<Record<FsType, string>> = { ext4: 'EBADMSG', xfs: 'EUCLEAN', btrfs: 'EINVAL' };

async function readSuperblock(
  request: MountRequest,
  fsType: FsType,
  loop: Loop,
  superblocks: SuperblockSet,
  options: string[],
): Promise<Superblock> {
  const { readOnly } = request;
  const found = await withDisk('mount', loop.backing.path, 'r', probeMemoryDisk);
  if (found.kind !== 'filesystem' || found.fsType !== fsType) {
    const holds = found.kind === 'unknown' ? found.what : found.kind === 'blank' ? 'nothing' : found.fsType;
    const damaged = found.kind === 'unknown' && found.what === DAMAGED_MEMORY_FILESYSTEM;
    throw refusal(request, damaged ? DAMAGED[fsType] : 'EINVAL', `it holds ${holds}`);
  }
  if (found.sizeBytes > loop.sizeBytes) {
    const sizes = `${found.sizeBytes} bytes of filesystem on ${loop.sizeBytes} bytes of device`;
    throw refusal(request, 'EINVAL', `bad geometry: ${sizes}`);
  }
  if (loop.readOnly && !readOnly) throw refusal(request, 'EACCES');
  return {
    fsType,
    // btrfs has several devices, so its files tell a number of their own.
    device: fsType === 'btrfs' ? superblocks.anonymousDevice() : loopDeviceNumber(loop.index),
    loop: loop.index,
    uuid: found.uuid,
    sizeBytes: found.sizeBytes,
    blockSize: found.blockSize,
    readOnly,
    frozen: false,
    options,
    data: { bytes: 0n, inodes: 0n },
  };
}

async function noDevice(request: MountRequest): Promise<HostError> {
  const exists = await fs.stat(request.source).then(
    () => true,
    () => false,
  );
  return exists
    ? refusal(request, 'ENOTBLK', 'it is no loop device of the memory host')
    : refusal(request, 'ENOENT');
}
