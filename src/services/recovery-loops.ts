import { type BigIntStats, existsSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { LOOP_MAJOR, loopIndexOf } from '../backends/disk-loops';
import { withoutUnlinkedMark } from '../host/backing-file';
import type { LoopStatus, MountEntry } from '../host/host';
import { sameDevice, splitDevice } from '../util/device';
import { keyOf } from '../util/keys';
import { DISK_NAME } from '../volumes/layout';
import type { NodeStore } from '../volumes/node-store';
import { readRecord } from '../volumes/record-file';
import type { VolumeRecord } from '../volumes/records';
import type { Env } from './env';

/**
 * Detaches the loop devices over our disks that nothing uses. Those that are still in use though nothing of ours is (a
 * pod outlived its stage) are remembered: whoever stages the volume next has to use the same one.
 */
export async function sweepLoops(
  env: Env,
  store: NodeStore,
  mounts: readonly MountEntry[],
  repaired: string[],
): Promise<void> {
  const mounted = loopsIn(mounts);
  const staged = new Set([...store.stages()].map(({ volumeId }) => keyOf(volumeId)));
  // Told by the path where that is enough: looking at a device costs four system calls, and all but a few are staged.
  const isLeft = (file: string) => {
    if (!isDisk(file)) return false;
    const { key, isOurs } = placeOfDisk(env, file);
    return isOurs ? !staged.has(key) : ourDisk(env, key) !== undefined;
  };
  for (const loop of await env.host.loops.list(isLeft, loopsOfStages(store, mounts))) {
    const key = keyOfDisk(env, loop);
    if (key === undefined || staged.has(key)) continue;
    if (!mounted.has(loop.index) && !usedElsewhere(env, key)) {
      await env.host.loops.detach(loop.index);
      if (!(await isStill(env, loop))) {
        repaired.push(`detached ${loop.path} from ${loop.backing.path}: no stage uses it`);
        continue;
      }
      repaired.push(
        `${loop.path} over ${loop.backing.path} is in use, but not by a stage: it is kept in mind`,
      );
    }
    store.holdLoopOf(key, loop.index);
  }
}

/**
 * Loop devices that are mounted at the stage whose record names them: such a one cannot be over another file. To ask /sys about
 * each would be the most of what many volumes cost at a start.
 */
function loopsOfStages(store: NodeStore, mounts: readonly MountEntry[]): Set<number> {
  const found = new Set<number>();
  for (const { device, mountPoint } of mounts) {
    if (device.major !== LOOP_MAJOR) continue;
    if (store.stageAt(mountPoint)?.loopIndex === device.minor) found.add(device.minor);
  }
  return found;
}

/** Loop devices that are mounted, or whose nodes are bound somewhere. */
function loopsIn(mounts: readonly MountEntry[]): Set<number> {
  const found = new Set<number>();
  for (const { device, source, root } of mounts) {
    const bound = /\/loop(\d+)$/.exec(root)?.[1];
    // A btrfs has a device number of its own in the table; its source tells the loop device.
    const indexes = [
      device.major === LOOP_MAJOR ? device.minor : undefined,
      loopIndexOf(source),
      bound === undefined ? undefined : Number(bound),
    ];
    for (const index of indexes) if (index !== undefined) found.add(index);
  }
  return found;
}

/** The name of the volume's folder, when the file behind a loop device is, or was, the disk of one of ours. */
function keyOfDisk(env: Env, { backing }: LoopStatus): string | undefined {
  if (!isDisk(backing.path)) return undefined;
  const { key, isOurs } = placeOfDisk(env, backing.path);
  if (isOurs) return key;
  // Another process may reach the same folder by another path.
  const ours = ourDisk(env, key);
  return ours && ours.ino === backing.inode && sameDevice(splitDevice(ours.dev), backing.device)
    ? key
    : undefined;
}

/** The name of the folder that a disk lies in, and whether that is, by its path, one of our volumes. */
function placeOfDisk(env: Env, file: string): { key: string; isOurs: boolean } {
  const folder = path.dirname(file);
  return { key: path.basename(folder), isOurs: path.dirname(folder) === env.layout.volumes };
}

function ourDisk(env: Env, key: string): BigIntStats | undefined {
  return statSync(path.join(env.layout.volumes, key, DISK_NAME), { bigint: true, throwIfNoEntry: false });
}

/** Of any driver's volume, as its name tells. */
function isDisk(file: string): boolean {
  return path.basename(withoutUnlinkedMark(file)) === DISK_NAME;
}

/** A node that is just staging the volume may have attached the device and not yet written its record. */
function usedElsewhere(env: Env, volumeKey: string): boolean {
  for (const node of env.nodes.others())
    if (existsSync(`${env.layout.node(node.id).stages}/${volumeKey}.json`)) return true;
  try {
    const file = path.join(env.layout.volumes, volumeKey, 'volume.json');
    const record = readRecord<VolumeRecord>(file, ['attachments']);
    return Object.keys(record?.attachments ?? {}).some((nodeId) => nodeId !== env.node?.record.id);
  } catch {
    return false;
  }
}

async function isStill(env: Env, { index, backing }: LoopStatus): Promise<boolean> {
  const status = await env.host.loops.status(index);
  return (
    status !== null &&
    status.backing.inode === backing.inode &&
    sameDevice(status.backing.device, backing.device)
  );
}
