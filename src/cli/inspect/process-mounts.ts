import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseMountinfo } from '../../host/linux/mountinfo';
import type { MountLine } from '../../kubelet/inspect/mount-table';

const LOOP_MAJOR = 7;

/**
 * The mounts of a process, with paths as they can be opened from here.
 * @throws Error with one line when the process is not there or not ours to look at
 */
export function mountsOfProcess(pid: number | undefined): MountLine[] {
  const file = `/proc/${pid ?? 'self'}/mountinfo`;
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(
      `--pid ${pid}: expected a process whose ${file} can be read, found ${(error as NodeJS.ErrnoException).code}`,
    );
  }
  const prefix = pid === undefined ? '' : rootOf(pid);
  return parseMountinfo(text).map((entry) => ({
    mountPoint: prefix === '' ? entry.mountPoint : path.join(prefix, entry.mountPoint),
    root: entry.root,
    device: entry.device,
    fsType: entry.fsType,
    source: entry.source,
    options: entry.options,
  }));
}

/** The root of a process, through which its own mounts are seen. */
export function rootOf(pid: number): string {
  return `/proc/${pid}/root`;
}

/** What sysfs says against a mounted device; a filesystem without one (tmpfs, nfs) has nothing there. */
export function deviceProblem({ device: { major, minor } }: MountLine): string | undefined {
  if (major === 0 || !fs.existsSync('/sys/dev/block')) return undefined;
  const folder = `/sys/dev/block/${major}:${minor}`;
  if (!fs.existsSync(folder)) return `there is no device ${major}:${minor} any more`;
  if (major !== LOOP_MAJOR) return undefined;
  try {
    const backing = fs.readFileSync(`${folder}/loop/backing_file`, 'utf8').trimEnd();
    return backing.endsWith(' (deleted)') ? `its backing file was deleted (${backing})` : undefined;
  } catch {
    return 'the loop device has no backing file any more';
  }
}
