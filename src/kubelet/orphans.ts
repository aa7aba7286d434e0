import * as fs from 'node:fs';
import * as path from 'node:path';
import { errnoOf, namesIn } from '../util/files';
import type { MountView } from './csi/mount-view';
import type { KubeletPaths } from './names';
import type { Timeline } from './timeline/timeline';
import type { ActualStateOfWorld } from './volumemanager/actual-state-of-world';

/** Whether something is mounted in the pod's volumes; a dead mount is one. */
export async function hasMounts(mounts: MountView, paths: KubeletPaths, podUid: string): Promise<boolean> {
  for (const specName of namesIn(paths.podCsiVolumes(podUid)))
    if (
      await mounts.isMountPoint(path.join(paths.podCsiVolumes(podUid), specName, 'mount')).catch(() => true)
    )
      return true;
  return false;
}

/**
 * Removes what is left of a pod that is gone (kubelet_volumes.go, cleanupOrphanedPodDirs): empty folders, never files.
 * @returns why it could not, in the words of the kubelet's log
 */
export function removeOrphanedPod(paths: KubeletPaths, podUid: string): string | undefined {
  const said = `orphaned pod "${podUid}" found, but`;
  for (const specName of namesIn(paths.podCsiVolumes(podUid))) {
    const folder = path.join(paths.podCsiVolumes(podUid), specName);
    const mount = path.join(folder, 'mount');
    try {
      fs.rmdirSync(mount);
    } catch (error) {
      if (errnoOf(error) === 'ENOTEMPTY')
        return `${said} failed to rmdir() volume at path ${mount}: directory not empty`;
      if (errnoOf(error) !== 'ENOENT')
        return `${said} failed to rmdir() volume at path ${mount}: ${(error as Error).message}`;
    }
  }
  const failure = removeFolders(paths.podVolumes(podUid));
  if (failure !== undefined)
    return `${said} error occurred when trying to remove the volumes dir: ${failure}`;
  for (const folder of [paths.podCsiDevices(podUid), paths.podDevices(podUid), paths.pod(podUid)])
    try {
      fs.rmdirSync(folder);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT')
        return `${said} failed to remove ${folder}: ${(error as Error).message}`;
    }
  return undefined;
}

/** pkg/util/removeall, RemoveDirsOneFilesystem. @returns why it could not: at the first thing that is no folder */
function removeFolders(folder: string): string | undefined {
  for (const name of namesIn(folder)) {
    const inside = path.join(folder, name);
    const failure = fs.lstatSync(inside).isDirectory() ? removeFolders(inside) : 'not a directory';
    if (failure !== undefined) return failure;
  }
  try {
    fs.rmdirSync(folder);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') return (error as Error).message;
  }
  return undefined;
}

export interface OrphanSource {
  readonly nodeName: string;
  readonly timeline: Timeline;
  readonly paths: KubeletPaths;
  readonly mounts: MountView;
  readonly asw: ActualStateOfWorld;
}

/** One round of housekeeping over folders of pods that nobody knows any more. */
export async function cleanUpOrphans(
  { asw, mounts, paths, timeline, nodeName }: OrphanSource,
  podUids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const uid of podUids) {
    const inUse = asw.all().some(({ pods }) => pods.has(uid)) || (await hasMounts(mounts, paths, uid));
    signal.throwIfAborted();
    const text = inUse
      ? `Orphaned pod found, but volumes are not cleaned up: podUID="${uid}"`
      : removeOrphanedPod(paths, uid);
    if (text !== undefined) timeline.log({ who: 'kubelet', node: nodeName, text });
  }
}
