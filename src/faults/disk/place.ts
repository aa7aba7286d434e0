import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { letGo } from '../../backends/let-go';
import type { Host } from '../../host/host';
import { ensureFolder, namesIn } from '../../util/files';
import { keyOf } from '../../util/keys';
import type { DiskTarget, PreparedDisk } from './target';

const PREFIX = 'condition-';

/**
 * Where everything lies that a condition makes: images, and a mount point. The folder is made before anything else and
 * removed after everything else, and so tells the next start what a killed process has left (`recoverConditions`). It is
 * in the data folder, as volumes are: images are renamed between the two.
 */
export interface Place {
  readonly folder: string;
  /** An image that the device shows in place of the volume's, or that takes its place. */
  readonly image: string;
  /** A copy of the volume's disk to work on. */
  readonly copy: string;
  /** An empty folder. */
  readonly mountPoint: string;
}

/** Makes the place for one condition, has it used, and takes it away again when that fails. */
export async function inPlace(
  condition: string,
  target: DiskTarget,
  use: (place: Place) => Promise<PreparedDisk>,
): Promise<PreparedDisk> {
  const folder = path.join(target.undoFolder, `${PREFIX}${condition}-${keyOf(target.volume.id)}`);
  await remove(target.host, folder);
  const place = {
    folder,
    image: path.join(folder, 'image'),
    copy: path.join(folder, 'copy'),
    mountPoint: path.join(folder, 'mount'),
  };
  ensureFolder(place.mountPoint, 0o700);
  try {
    return await use(place);
  } catch (error) {
    await remove(target.host, folder);
    throw error;
  }
}

/**
 * Unmounts and removes all that is in a place, at the end of the stage that it was made for. Loop devices over its images
 * are autoclear and went with their mounts: a look at one path is enough, where `remove` reads the whole mount table.
 */
export async function leave({ host }: DiskTarget, { folder, mountPoint }: Place): Promise<void> {
  if ((await host.mounts.look(mountPoint)).mount) await letGo(host, mountPoint);
  await clear(folder);
}

/**
 * Takes back what a killed process has left of its conditions; those that are meant to stay leave nothing here.
 * @returns what was done, one sentence each
 */
export async function recoverConditions(host: Host, undoFolder: string): Promise<string[]> {
  const done: string[] = [];
  for (const name of namesIn(undoFolder)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = path.join(undoFolder, name);
    try {
      await remove(host, folder);
      done.push(`removed ${folder}, which a scenario had made of a disk`);
    } catch (error) {
      done.push(
        `could not remove ${folder}, which a scenario had made of a disk: ${(error as Error).message}`,
      );
    }
  }
  return done;
}

/**
 * Whatever a killed process has left there: it may be mounted anywhere. Mounts first: the content of one must never be taken
 * for the folder's.
 */
async function remove(host: Host, folder: string): Promise<void> {
  if (!(await fs.stat(folder).catch(() => undefined))) return;
  const loops = await host.loops.list((file) => isIn(folder, file));
  const devices = new Set(loops.map((loop) => loop.path));
  const mounts = (await host.mounts.list()).reverse();
  for (const { mountPoint, source } of mounts)
    if (devices.has(source) || mountPoint.startsWith(`${folder}/`)) await letGo(host, mountPoint);
  for (const { index } of loops) await host.loops.detach(index);
  await clear(folder);
}

async function clear(folder: string): Promise<void> {
  for (const name of namesIn(folder)) {
    const inside = path.join(folder, name);
    // A folder that is not empty is a mount that did not go: rmdir refuses it.
    if (name === 'mount') await fs.rmdir(inside);
    else await fs.rm(inside, { force: true });
  }
  await fs.rmdir(folder);
}

function isIn(folder: string, file: string): boolean {
  return path.dirname(file) === folder;
}
