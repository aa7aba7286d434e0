import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../host';
import { createLibc } from '../libc';
import { findAbilities } from './abilities';
import { createDiskFiles } from './disks';
import { createFilesystems } from './filesystems';
import { createLoopDevices } from './loops';
import { LoopNodes } from './loops-nodes';
import { createMounts } from './mounts';

export interface LinuxHostOptions {
  /** A folder of ours; device nodes that /dev cannot take go to `dev` in it. */
  stateDir: string;
  /** A folder of ours for what can be made again (filesystem templates). */
  cacheDir: string;
  /** System calls in libuv's pool at once (default 8); two more are kept for thaw. Stay below UV_THREADPOOL_SIZE. */
  concurrency?: number;
}

/** The machine itself. Making it touches nothing: what it may do here is asked with `abilities()`. */
export function createLinuxHost({ stateDir, cacheDir, concurrency = 8 }: LinuxHostOptions): Host {
  const libc = createLibc({ width: concurrency });
  const nodes = new LoopNodes(libc, { dev: '/dev', own: join(stateDir, 'dev') });
  return {
    kind: 'linux',
    mounts: createMounts(libc),
    loops: createLoopDevices(libc, nodes),
    filesystems: createFilesystems({ libc, cacheDir }),
    disks: createDiskFiles({ libc }),
    async lockFile(file) {
      const handle = await fs.open(file, 'a', 0o600);
      try {
        libc.lockSync(handle.fd);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return () => handle.close();
    },
    async bootId() {
      return (await fs.readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    },
    abilities: () => findAbilities({ libc, nodes }),
  };
}
