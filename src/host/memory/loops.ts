import * as fs from 'node:fs/promises';
import type { DeviceNumber, LoopDevice, LoopDevices, LoopStatus } from '../host';
import { asHostError } from '../linux/disks-errors';
import { withDisk } from './disk';
import { failure } from './table';

const LOOP_MAJOR = 7;
/** Below a folder that exists nowhere: whoever opens such a node by mistake must not get a disk of the machine. */
const NODE_PREFIX = '/dev/fake-csi-memory/loop';
const SECTOR = 512n;

export interface Loop extends LoopStatus {
  /** Descriptors of ours that are open. */
  open: number;
  /** Superblocks that lie on it. */
  mounted: number;
  readAheadKib: number;
}

/** Loop devices of the model, and what its mounts need to know of them. */
export interface MemoryLoops {
  devices: LoopDevices;
  byPath(path: string): Loop | undefined;
  byIndex(index: number): Loop | undefined;
  /** A superblock came to or went from a device; with the last user an autoclear device goes too. */
  mountedOn(index: number, change: 1 | -1): void;
}

export const loopDeviceNumber = (index: number): DeviceNumber => ({ major: LOOP_MAJOR, minor: index });

export function createMemoryLoops(): MemoryLoops {
  const loops = new Map<number, Loop>();

  function clearIfUnused(loop: Loop): void {
    if (loop.autoclear && loop.open === 0 && loop.mounted === 0) loops.delete(loop.index);
  }

  function opened(loop: Loop): LoopDevice {
    loop.open++;
    let released = false;
    return {
      index: loop.index,
      path: loop.path,
      device: loopDeviceNumber(loop.index),
      async release() {
        if (released) return;
        released = true;
        loop.open--;
        if (loops.get(loop.index) === loop) clearIfUnused(loop);
      },
    };
  }

  function attached(index: number, operation: string): Loop {
    const loop = loops.get(index);
    if (loop === undefined)
      throw failure('ENXIO', operation, `${NODE_PREFIX}${index}`, 'no file is attached');
    return loop;
  }

  const devices: LoopDevices = {
    async attach(file, { readOnly, autoclear }) {
      const { backing, sizeBytes } = await backingOf(file);
      let index = 0;
      while (loops.has(index)) index++;
      const path = `${NODE_PREFIX}${index}`;
      const use = { open: 0, mounted: 0, readAheadKib: 128 };
      const loop = { index, path, backing, readOnly, autoclear, sizeBytes, ...use };
      loops.set(index, loop);
      return opened(loop);
    },

    async open(index) {
      const loop = loops.get(index);
      return loop === undefined ? null : opened(loop);
    },

    async status(index) {
      const loop = loops.get(index);
      return loop === undefined ? null : statusOf(loop);
    },

    async refreshSize(index) {
      const loop = attached(index, 'LOOP_SET_CAPACITY');
      loop.sizeBytes = (await backingOf(loop.backing.path)).sizeBytes;
    },

    async detach(index) {
      const loop = loops.get(index);
      if (loop === undefined) return;
      // LOOP_CLR_FD on a device in use only makes it go with its last user.
      loop.autoclear = true;
      clearIfUnused(loop);
    },

    holders: async () => [],

    async setReadAhead(index, kib) {
      attached(index, 'BLKRASET').readAheadKib = kib;
    },

    async setReadOnly(index, readOnly) {
      attached(index, 'BLKROSET').readOnly = readOnly;
    },

    async list(about = () => true, except = new Set()) {
      const wanted = [...loops.values()].filter(
        ({ index, backing }) => !except.has(index) && about(backing.path),
      );
      return wanted.sort((a, b) => a.index - b.index).map(statusOf);
    },
  };

  return {
    devices,
    byPath: (path) => [...loops.values()].find((loop) => loop.path === path),
    byIndex: (index) => loops.get(index),
    mountedOn(index, change) {
      const loop = loops.get(index);
      if (loop === undefined) return;
      loop.mounted += change;
      clearIfUnused(loop);
    },
  };
}

function statusOf({ index, path, backing, readOnly, autoclear, sizeBytes }: Loop): LoopStatus {
  return { index, path, backing: { ...backing }, readOnly, autoclear, sizeBytes };
}

async function backingOf(file: string): Promise<Pick<LoopStatus, 'backing' | 'sizeBytes'>> {
  const sizeBytes = await withDisk('LOOP_CONFIGURE', file, 'r', async (disk) => disk.sizeBytes);
  try {
    const path = await fs.realpath(file);
    const { dev, ino } = await fs.stat(path, { bigint: true });
    return {
      backing: { device: deviceNumber(dev), inode: ino, path },
      sizeBytes: sizeBytes - (sizeBytes % SECTOR),
    };
  } catch (error) {
    throw asHostError('LOOP_CONFIGURE', file, error);
  }
}

/** `st_dev` as Linux' C libraries encode it (gnu_dev_major, gnu_dev_minor); elsewhere only equality counts. */
export function deviceNumber(dev: bigint): DeviceNumber {
  return {
    major: Number(((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n)),
    minor: Number((dev & 0xffn) | ((dev >> 12n) & 0xffffff00n)),
  };
}
