import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Usage } from '../host/host';
import { errnoOf } from '../util/files';

/** Past this many entries the walk stops: stats must not become a load on the disk they describe. */
const MAX_ENTRIES = 50_000;

/**
 * What a plain folder holds, by walking it: a folder has no superblock of its own, and statfs would tell about the disk
 * that many volumes share. `capacity` is only what was promised; nothing enforces it.
 */
export async function treeUsage(root: string, capacity: bigint): Promise<Usage> {
  let bytes = 0n;
  let entries = 0n;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await fs.readdir(folder, { withFileTypes: true }).catch(missing)) {
      if (entries >= MAX_ENTRIES) break;
      entries += 1n;
      const name = path.join(folder, entry.name);
      if (entry.isDirectory()) folders.push(name);
      const stat = await fs.lstat(name, { bigint: true }).catch(() => undefined);
      // Blocks, not length: what a sparse file occupies.
      if (stat) bytes += stat.blocks * 512n;
    }
  }
  const host = await fs.statfs(root, { bigint: true });
  const free = capacity > bytes ? capacity - bytes : 0n;
  const hostFree = host.bavail * host.bsize;
  const total = capacity > bytes ? capacity : bytes;
  return {
    bytes: { total, used: bytes, available: free < hostFree ? free : hostFree },
    inodes: { total: entries + host.ffree, used: entries, available: host.ffree },
  };
}

function missing(error: unknown): [] {
  if (errnoOf(error) === 'ENOENT') return [];
  throw error;
}
