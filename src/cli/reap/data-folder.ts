import * as fs from 'node:fs';
import * as path from 'node:path';
import type { DeviceNumber, Host } from '../../host/host';
import { splitDevice } from '../../util/device';
import { errnoOf, namesIn } from '../../util/files';
import { Layout } from '../../volumes/layout';

/** A data folder whose driver is gone, as far as it can be told without reading a record: those may be broken. */
export interface DataFolder {
  /** Without symbolic links. */
  readonly root: string;
  readonly layout: Layout;
  /** False when the folder itself was removed: only names of deleted files tell of it then. */
  readonly exists: boolean;
  /** Device and inode (`fileKey`) of each file in it that may be a disk: names are reused, inodes prove. */
  readonly files: ReadonlySet<string>;
  /** What those are called, without their folders. */
  readonly fileNames: ReadonlySet<string>;
  /** Folders of records of what is to be undone. */
  readonly undo: readonly string[];
}

export const fileKey = ({ major, minor }: DeviceNumber, inode: bigint) => `${major}:${minor}:${inode}`;

/** What a driver makes at its start, whatever its services, and nobody else. */
const LOCK = /^(controller|node-[0-9a-f]{32})\.lock$/;

/** @throws Error with one line when it is a folder, and none of a driver. */
export function readDataFolder(given: string): DataFolder {
  const root = realPath(given);
  const layout = new Layout(root);
  const exists = fs.existsSync(root);
  if (exists && locksOf(layout).length === 0)
    throw new Error(
      `--data-dir ${given}: expected the data folder of a driver, found no locks/controller.lock or locks/node-….lock in it; name the folder that \`serve --data-dir\` had`,
    );
  const undo = [layout.undo, ...namesOf(layout.nodes).map((name) => path.join(layout.nodes, name, 'undo'))];
  const found = exists ? filesOf(layout, undo) : new Map<string, string>();
  return { root, layout, exists, files: new Set(found.keys()), fileNames: new Set(found.values()), undo };
}

/** Of what is gone, as much as is there: what the kernel remembers begins with that. */
function realPath(given: string): string {
  const whole = path.resolve(given);
  try {
    return fs.realpathSync(whole);
  } catch {
    const parent = path.dirname(whole);
    return parent === whole ? whole : path.join(realPath(parent), path.basename(whole));
  }
}

function namesOf(folder: string): string[] {
  try {
    return namesIn(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function locksOf({ locks }: Layout): string[] {
  return namesOf(locks)
    .filter((name) => LOCK.test(name))
    .map((name) => path.join(locks, name));
}

/** Names by `fileKey`. Never goes into a mount, which may hang, nor after a link. */
function filesOf(layout: Layout, undo: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const device = fs.statSync(layout.root, { bigint: true }).dev;
  const look = (folder: string, depth: number): void => {
    for (const name of namesOf(folder)) {
      const file = path.join(folder, name);
      const stat = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
      if (!stat || stat.dev !== device) continue;
      if (stat.isFile()) found.set(fileKey(splitDevice(stat.dev), stat.ino), name);
      else if (stat.isDirectory() && depth > 1) look(file, depth - 1);
    }
  };
  for (const folder of [layout.volumes, layout.snapshots, ...undo]) look(folder, 2);
  return found;
}

/**
 * Takes every lock that a driver on the folder would hold, so that none lives and none begins meanwhile.
 * @returns what lets go of them. @throws Error with one line when a driver has one.
 */
export async function takeOwnership(
  host: Host,
  { layout, exists }: DataFolder,
): Promise<() => Promise<void>> {
  const taken: (() => Promise<void>)[] = [];
  const letGo = async () => {
    for (const unlock of taken) await unlock();
  };
  if (!exists) return letGo;
  for (const file of locksOf(layout)) {
    try {
      taken.push(await host.lockFile(file));
    } catch (error) {
      await letGo();
      if (errnoOf(error) !== 'EAGAIN') throw error;
      throw new Error(
        `--data-dir ${layout.root}: a driver is alive on it (it holds ${path.basename(file)}); stop it first, or leave it what is its own`,
      );
    }
  }
  return letGo;
}
