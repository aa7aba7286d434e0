import * as fs from 'node:fs';
import type { MountEntry } from '../../host/host';
import { parseMountinfo } from '../../host/linux/mountinfo';
import { loopOf } from './ours';

/** A mount on top of it: only what has none can be unmounted. */
export function childOf(table: readonly MountEntry[], { mountId }: MountEntry): MountEntry | undefined {
  return table.find((one) => one.parentId === mountId && one.mountId !== mountId);
}

/** A mount through which its path leads, and which it is not below: unmounting by the path would take something else. */
export function hides(table: readonly MountEntry[], entry: MountEntry): MountEntry | undefined {
  const byId = new Map(table.map((one) => [one.mountId, one]));
  const above = new Set<bigint>();
  let next: MountEntry | undefined = entry;
  while (next && !above.has(next.mountId)) {
    above.add(next.mountId);
    next = byId.get(next.parentId);
  }
  return table.find(
    ({ mountId, mountPoint }) =>
      !above.has(mountId) &&
      mountPoint !== '/' &&
      (entry.mountPoint === mountPoint || entry.mountPoint.startsWith(`${mountPoint}/`)),
  );
}

/** A process in another mount namespace where the device is mounted: a container that still runs, or a kubelet's. */
export function mountedElsewhere(index: number): string | undefined {
  const own = namespaceOf('self');
  const seen = new Set<string | undefined>([own]);
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const namespace = namespaceOf(pid);
    if (namespace === undefined || seen.has(namespace)) continue;
    seen.add(namespace);
    const entry = mountsOf(pid).find((one) => loopOf(one) === index || one.root.endsWith(`/loop${index}`));
    if (entry)
      return `mounted at ${entry.mountPoint} in the mount namespace of process ${pid} (${nameOf(pid)})`;
  }
  return undefined;
}

function namespaceOf(pid: string): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

/** Of a process that ended meanwhile, none. */
function mountsOf(pid: string): MountEntry[] {
  try {
    return parseMountinfo(fs.readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
  } catch {
    return [];
  }
}

function nameOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '?';
  }
}
