import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import {
  blockCapability,
  MIB,
  type MODE,
  mountCapability,
  type UsedVolume,
  type UseOptions,
} from './lifecycle';

/** A kind of volume that a CO can ask for, at the smallest size that serves. */
export interface Kind {
  name: 'ext4' | 'xfs' | 'btrfs' | 'block' | 'tmpfs' | 'directory';
  size: number;
  block: boolean;
  /** Has a disk file and a loop device under it. */
  loop: boolean;
  /** What to create and stage it with. */
  options(mode?: keyof typeof MODE): UseOptions;
}

function mounted(name: Kind['name'], backend: string, fsType: string, mib: number): Kind {
  const size = mib * MIB;
  return {
    name,
    size,
    block: false,
    loop: backend === 'loop',
    options: (mode) => ({
      size,
      capability: mountCapability(mode === undefined ? { fsType } : { fsType, mode }),
      parameters: { backend },
    }),
  };
}

export const KINDS: Readonly<Record<Kind['name'], Kind>> = {
  ext4: mounted('ext4', 'loop', 'ext4', 64),
  xfs: mounted('xfs', 'loop', 'xfs', 300),
  btrfs: mounted('btrfs', 'loop', 'btrfs', 128),
  tmpfs: mounted('tmpfs', 'tmpfs', '', 16),
  directory: mounted('directory', 'directory', '', 16),
  block: {
    name: 'block',
    size: 16 * MIB,
    block: true,
    loop: true,
    options: (mode) => ({
      size: 16 * MIB,
      capability: blockCapability(mode),
      parameters: { backend: 'loop' },
    }),
  },
};

export const ALL_KINDS = Object.values(KINDS);

/** Writes something at the start of a published volume, through to its disk. */
export async function writeMark(kind: Kind, used: UsedVolume, text: string): Promise<void> {
  const file = kind.block ? used.target : path.join(used.target, 'mark');
  const handle = await fs.open(file, kind.block ? 'r+' : 'w');
  try {
    await handle.write(text.padEnd(32), 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What the volume_context of a volume that nobody created says of it. */
export const attributesOf = (kind: Kind): Record<string, string> => ({
  backend: kind.options().parameters?.backend ?? 'loop',
  size: `${kind.size}`,
});

/** What `writeMark` wrote; undefined where nothing was. */
export async function readMark(kind: Kind, used: UsedVolume): Promise<string | undefined> {
  const file = kind.block ? used.target : path.join(used.target, 'mark');
  const handle = await fs.open(file, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer } = await handle.read(Buffer.alloc(32), 0, 32, 0);
    return buffer[0] === 0 ? undefined : buffer.toString('utf8').trim();
  } finally {
    await handle.close();
  }
}
