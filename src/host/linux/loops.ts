import { readdirSync } from 'node:fs';
import { errnoOf, readText } from '../../util/files';
import { HostError, type LoopDevice, type LoopDevices, type LoopStatus } from '../host';
import { describeErrno, IOCTL, isErrno, type Libc, O, S_IF } from '../libc';
import { Limiter } from '../libc/limiter';
import { assertUnclaimed } from './disk-claim';
import { holdersOf } from './loop-holders';
import { LOOP_MAJOR, type LoopNodes, type OpenNode } from './loops-nodes';
import { decodeLoopInfo, emptyLoopInfo, encodeLoopConfig } from './loops-structs';

/** Free indexes are shared with the whole machine: each try may lose its index to somebody else's. */
const ATTEMPTS = 64;

export function createLoopDevices(libc: Libc, nodes: LoopNodes): LoopDevices {
  // The kernel names the same free index to all who ask before one of them takes it.
  const oneAtATime = new Limiter(1);

  const ioctl = (node: OpenNode, operation: keyof typeof IOCTL, argument: Buffer | number) =>
    libc.ioctl(node.fd, IOCTL[operation], argument, { operation, subject: node.path });

  async function withLoop<T>(index: number, flags: number, use: (node: OpenNode) => Promise<T>): Promise<T> {
    const node = await nodes.openLoop(index, flags);
    try {
      return await use(node);
    } finally {
      await libc.close(node.fd);
    }
  }

  async function tryAttach(backing: number, file: string, attach: AttachOptions): Promise<LoopDevice | null> {
    const index = await nodes.freeIndex();
    let node: OpenNode;
    try {
      node = await nodes.openLoop(index, attach.readOnly ? O.RDONLY : O.RDWR);
    } catch (error) {
      // Removed (LOOP_CTL_REMOVE) between the two calls, or claimed exclusively.
      if (isErrno(error, 'ENXIO', 'ENODEV', 'EBUSY')) return null;
      throw error;
    }
    try {
      await ioctl(node, 'LOOP_CONFIGURE', encodeLoopConfig(backing, file, attach));
    } catch (error) {
      await libc.close(node.fd);
      if (isErrno(error, 'EBUSY', 'ENXIO', 'ENODEV')) return null;
      throw error instanceof HostError ? explainConfigure(error, node.path, file) : error;
    }
    return loopDevice(libc, index, node);
  }

  async function statusOf(index: number, node: OpenNode): Promise<LoopStatus | null> {
    const info = emptyLoopInfo();
    const size = Buffer.alloc(8);
    try {
      await ioctl(node, 'LOOP_GET_STATUS64', info);
      await ioctl(node, 'BLKGETSIZE64', size);
    } catch (error) {
      if (isErrno(error, 'ENXIO')) return null;
      throw error;
    }
    const { device, inode, readOnly, autoclear, fileName } = decodeLoopInfo(info);
    const path = backingPath(index) ?? fileName;
    return {
      index,
      path: node.path,
      backing: { device, inode, path },
      readOnly,
      autoclear,
      sizeBytes: size.readBigUInt64LE(0),
    };
  }

  async function status(index: number): Promise<LoopStatus | null> {
    // Opening a node whose device is gone may create the device: ask /sys first.
    if (!isAttached(index)) return null;
    return orNull(() => withLoop(index, O.RDONLY, (node) => statusOf(index, node)));
  }

  return {
    async attach(file, attach) {
      const backing = await libc.open(file, attach.readOnly ? O.RDONLY : O.RDWR);
      try {
        // Also waits here, and not while others wait for the index, when the file's own filesystem hangs.
        const { mode } = await libc.fstatx(backing);
        if ((mode & S_IF.MT) !== S_IF.REG) throw notRegular(file);
        assertUnclaimed(libc, backing, file);
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
          const device = await oneAtATime.run(() => tryAttach(backing, file, attach));
          if (device !== null) return device;
        }
      } finally {
        await libc.close(backing);
      }
      throw new HostError(
        'EBUSY',
        'LOOP_CONFIGURE',
        `LOOP_CONFIGURE: ${file}: EBUSY: ${ATTEMPTS} free loop devices in a row were taken by others first`,
      );
    },

    async open(index) {
      if (!isAttached(index)) return null;
      return orNull(async () => {
        const node = await openEitherWay(nodes, index);
        // Attached still, now that our descriptor keeps an autoclear device alive?
        const attached = await statusOf(index, node).catch(async (error: unknown) => {
          await libc.close(node.fd);
          throw error;
        });
        if (attached !== null) return loopDevice(libc, index, node);
        await libc.close(node.fd);
        return null;
      });
    },

    status,

    refreshSize: (index) =>
      withLoop(index, O.RDONLY, async (node) => {
        await ioctl(node, 'LOOP_SET_CAPACITY', 0);
      }),

    async detach(index) {
      if (!isAttached(index)) return;
      await orNull(() =>
        withLoop(index, O.RDONLY, async (node) => {
          await ioctl(node, 'LOOP_CLR_FD', 0);
        }),
      );
    },

    holders: (index) => holdersOf({ number: `${LOOP_MAJOR}:${index}`, path: `/dev/loop${index}` }),

    setReadAhead: (index, kib) =>
      withLoop(index, O.RDONLY, async (node) => {
        // BLKRASET counts sectors of 512 bytes.
        await ioctl(node, 'BLKRASET', kib * 2);
      }),

    setReadOnly: (index, readOnly) =>
      withLoop(index, O.RDONLY, async (node) => {
        const argument = Buffer.alloc(4);
        argument.writeInt32LE(readOnly ? 1 : 0);
        await ioctl(node, 'BLKROSET', argument);
      }),

    async list(about = () => true, except = new Set()) {
      const indexes = readdirSync('/sys/block')
        .map((name) => /^loop(\d+)$/.exec(name)?.[1])
        .filter((digits) => digits !== undefined)
        .map(Number)
        .filter((index) => {
          const file = except.has(index) ? null : backingPath(index);
          return file !== null && about(file);
        })
        .sort((a, b) => a - b);
      const all = await Promise.all(indexes.map(status));
      return all.filter((found) => found !== null);
    },
  };
}

type AttachOptions = { readOnly: boolean; autoclear: boolean };

function loopDevice(libc: Libc, index: number, node: OpenNode): LoopDevice {
  let released: Promise<void> | undefined;
  return {
    index,
    path: node.path,
    device: node.device,
    release() {
      // The last close of an autoclear device writes back what is dirty: it may wait for the disk.
      released ??= libc.close(node.fd);
      return released;
    },
  };
}

/** /sys/block/loopN/loop exists exactly while a file is attached. */
function isAttached(index: number): boolean {
  return backingPath(index) !== null;
}

/**
 * The whole path of the backing file; ` (deleted)` behind it when it was unlinked, empty when it is longer than a page
 * (drivers/block/loop.c, d_path). Null when none is attached.
 */
function backingPath(index: number): string | null {
  try {
    // /sys answers from memory: it never waits.
    return readText(`/sys/block/loop${index}/loop/backing_file`).replace(/\n$/, '');
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENXIO' || code === 'ENODEV') return null;
    if (code === 'ENAMETOOLONG') return '';
    throw error;
  }
}

/** A read-only device opens for reading only. */
async function openEitherWay(nodes: LoopNodes, index: number): Promise<OpenNode> {
  try {
    return await nodes.openLoop(index, O.RDWR);
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EROFS')) throw error;
    return nodes.openLoop(index, O.RDONLY);
  }
}

/** A device that was detached or removed while we looked at it is as good as never attached. */
async function orNull<T>(attempt: () => Promise<T>): Promise<T | null> {
  try {
    return await attempt();
  } catch (error) {
    if (isErrno(error, 'ENXIO', 'ENODEV')) return null;
    throw error;
  }
}

function explainConfigure(error: HostError, node: string, file: string): HostError {
  const reasons: Readonly<Record<string, string>> = {
    EINVAL: 'not a regular file, or one the kernel cannot attach',
    EROFS: 'the file can only be read; attach it read-only',
    ENOTTY: 'LOOP_CONFIGURE needs Linux 5.8 or later',
    EFBIG: 'the file is larger than a device can be',
  };
  const reason = reasons[error.errno];
  const text = `LOOP_CONFIGURE: ${file} on ${node}: ${describeErrno(error.errno)}`;
  return new HostError(error.errno, error.operation, reason === undefined ? text : `${text}: ${reason}`);
}

function notRegular(file: string): HostError {
  return new HostError(
    'EINVAL',
    'attach',
    `attach: ${file}: EINVAL: expected a regular file to put a loop device on`,
  );
}
