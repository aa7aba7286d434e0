import * as fs from 'node:fs';
import { createLinuxHost } from '../../src/host/linux';
import { leftIn } from '../integration/crash/subjects';
import { clearTraces, tracesBelow } from '../support/leaks';

/** What is still there of volumes that were deleted: mounts, loop devices, files of the driver, a line each. */
export async function leftovers(dir: string): Promise<string[]> {
  const { mounts, loops } = await tracesBelow(host(dir), dir);
  const files = await leftIn(`${dir}/data`);
  return [
    ...mounts.map((at) => `mount at ${at}`),
    ...loops.map((file) => `loop device over ${file}`),
    ...files.map((file) => `file ${file}`),
  ];
}

/** Removes everything, in whatever state it is. */
export async function removeAll(dir: string): Promise<void> {
  await clearTraces(host(dir), dir);
  fs.rmSync(dir, { recursive: true, force: true });
}

const host = (dir: string) => createLinuxHost({ stateDir: `${dir}/state`, cacheDir: `${dir}/cache` });
