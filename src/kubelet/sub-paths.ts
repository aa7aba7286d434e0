import * as fs from 'node:fs';
import * as path from 'node:path';
import { errnoOf, namesIn } from '../util/files';
import type { MountView } from './csi/mount-view';
import { ensureKubeletFolder } from './folders';
import type { KubeletPaths } from './names';
import type { ContainerMount } from './objects';
import type { Timeline } from './timeline/timeline';

export interface SubPathSource {
  readonly nodeName: string;
  readonly timeline: Timeline;
  readonly paths: KubeletPaths;
  readonly mounts: MountView;
}

/**
 * Binds a folder of a volume where the runtime takes it from, when a container starts (pkg/volume/util/subpath).
 * @throws Error in the kubelet's words
 */
export async function prepareSubPath(
  { mounts, paths, timeline, nodeName }: SubPathSource,
  podUid: string,
  specName: string,
  { container, index, volume, subPath = '' }: ContainerMount,
): Promise<void> {
  const place = path.join(paths.podSubPaths(podUid, specName), container, String(index));
  const what = `for volumeMount "${volume}" of container "${container}"`;
  const target = paths.target(podUid, specName);
  let source: string;
  try {
    source = await mounts.folderIn(target, subPath);
  } catch (error) {
    timeline.log({ who: 'kubelet', node: nodeName, about: specName, text: (error as Error).message });
    throw new Error(`failed to create subPath directory ${what}`);
  }
  if (await mounts.isMountPoint(place)) return;
  try {
    if (fs.statSync(source).isDirectory()) ensureKubeletFolder(place);
    else {
      ensureKubeletFolder(path.dirname(place));
      fs.closeSync(fs.openSync(place, 'a', 0o640));
    }
    await mounts.bind(source, place);
  } catch (error) {
    timeline.log({ who: 'kubelet', node: nodeName, about: specName, text: (error as Error).message });
    throw new Error(`failed to prepare subPath ${what}`);
  }
  const text = `bound ${path.join(target, subPath)} at ${place}`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'file', about: specName, text });
}

/** Unmounts what is bound of a pod's volume, before the volume itself goes. Found by the folders. @throws Error */
export async function cleanSubPaths(
  { mounts, paths, timeline, nodeName }: SubPathSource,
  podUid: string,
  specName: string,
): Promise<void> {
  const folder = paths.podSubPaths(podUid, specName);
  const containers = namesIn(folder).sort();
  if (containers.length === 0) return;
  for (const container of containers) {
    for (const index of namesIn(path.join(folder, container)).sort()) {
      const place = path.join(folder, container, index);
      if (await mounts.isMountPoint(place).catch(() => true)) await mounts.unmount(place);
      if (fs.lstatSync(place).isDirectory()) fs.rmdirSync(place);
      else fs.unlinkSync(place);
    }
    fs.rmdirSync(path.join(folder, container));
  }
  fs.rmdirSync(folder);
  try {
    fs.rmdirSync(path.dirname(folder));
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY') throw error;
  }
  const text = `unmounted and removed the subPaths in ${folder}`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'file', about: specName, text });
}
