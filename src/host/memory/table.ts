import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { errnoOf } from '../../util/files';
import { type DeviceNumber, HostError } from '../host';
import { describeErrno } from '../libc/errno';
import { asHostError } from '../linux/disks-errors';
import type { Superblock } from './superblocks';

/** One mount of the model. */
export interface Mount {
  id: bigint;
  /** The mount it was made on; undefined when that is the machine's own files. */
  parent: Mount | undefined;
  children: Set<Mount>;
  mountPoint: string;
  /** undefined: a bind of files of the machine itself. */
  superblock: Superblock | undefined;
  device: DeviceNumber;
  rootInode: bigint;
  /** Path inside the filesystem that is the root of the mount. */
  root: string;
  readOnly: boolean;
  options: string[];
  source: string;
  /** Set: every look at it fails with this errno. */
  dead: string | undefined;
}

/** Id of what the machine itself has mounted, which no model knows. */
export const HOST_MOUNT = 1n;

/** Failure of a modelled system call, in the same words as a real one. */
export function failure(errno: string, operation: string, subject: string, why = ''): HostError {
  const text = `${operation}: ${subject}: ${describeErrno(errno)}`;
  return new HostError(errno, operation, why === '' ? text : `${text}: ${why}`);
}

/** Which mount covers which path: the model of one mount namespace. */
export class MountTable {
  private readonly byPlace = new Map<string, Mount[]>();
  private readonly holders = new Map<Mount, number>();
  private nextId = HOST_MOUNT + 1n;

  all(): Mount[] {
    return [...this.byPlace.values()].flat().sort((a, b) => Number(a.id - b.id));
  }

  /** The topmost mount that `place` (a path without links) is on, or undefined for the machine's own files. */
  covering(place: string): Mount | undefined {
    let current: Mount | undefined;
    for (const prefix of prefixes(place)) {
      // Several mounts on one path: each lies on the root of the one before.
      for (let next = this.on(current, prefix); next !== undefined; next = this.on(current, prefix)) {
        current = next;
      }
    }
    return current;
  }

  /** The topmost mount whose root `place` is. */
  at(place: string): Mount | undefined {
    const covering = this.covering(place);
    return covering?.mountPoint === place ? covering : undefined;
  }

  add(mount: Omit<Mount, 'id' | 'parent' | 'children' | 'dead'>): Mount {
    const parent = this.covering(mount.mountPoint);
    const added = { ...mount, id: this.nextId++, parent, children: new Set<Mount>(), dead: undefined };
    parent?.children.add(added);
    this.byPlace.set(mount.mountPoint, [...(this.byPlace.get(mount.mountPoint) ?? []), added]);
    return added;
  }

  remove(mount: Mount): void {
    mount.parent?.children.delete(mount);
    this.holders.delete(mount);
    const left = (this.byPlace.get(mount.mountPoint) ?? []).filter((other) => other !== mount);
    if (left.length > 0) this.byPlace.set(mount.mountPoint, left);
    else this.byPlace.delete(mount.mountPoint);
  }

  isHeld(mount: Mount): boolean {
    return this.holders.has(mount);
  }

  /** Counts somebody who uses `mount`, until the answer is called (once counts). */
  hold(mount: Mount): () => void {
    this.holders.set(mount, (this.holders.get(mount) ?? 0) + 1);
    let held = true;
    return () => {
      const count = this.holders.get(mount);
      if (!held || count === undefined) return;
      held = false;
      if (count > 1) this.holders.set(mount, count - 1);
      else this.holders.delete(mount);
    };
  }

  private on(parent: Mount | undefined, mountPoint: string): Mount | undefined {
    return this.byPlace.get(mountPoint)?.find((mount) => mount.parent === parent);
  }
}

/** `/`, `/a`, `/a/b` of `/a/b`. */
function prefixes(place: string): string[] {
  const found = [path.parse(place).root];
  for (let end = place.indexOf('/', 1); end > 0; end = place.indexOf('/', end + 1))
    found.push(place.slice(0, end));
  if (place !== found[0]) found.push(place);
  return found;
}

/** The path without links, but for its last component. Null when its folder does not exist. */
export async function placeOf(file: string): Promise<string | null> {
  const absolute = path.resolve(file);
  if (absolute === path.parse(absolute).root) return absolute;
  try {
    return path.join(await fs.realpath(path.dirname(absolute)), path.basename(absolute));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return null;
    throw asHostError('realpath', file, error);
  }
}

/** The same with a link at the end followed too, as calls do that open what they are given. @throws HostError ENOENT. */
export async function followedPlaceOf(file: string, operation: string): Promise<string> {
  try {
    return await fs.realpath(file);
  } catch (error) {
    throw asHostError(operation, file, error);
  }
}
