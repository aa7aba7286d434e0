import * as fs from 'node:fs';
import * as path from 'node:path';
import { removeFile } from '../../util/files';
import type { NodeEnvironment } from '../csi/node-environment';
import { ensureKubeletFolder } from '../folders';
import type { VolumeSpec } from './spec';

/**
 * What the kubelet itself does to a published device (pkg/volume/util/volumepathhandler): a bind below the global map, a link in
 * the pod's folder, and a loop device that keeps the device from being used by others.
 */
export interface BlockMap {
  readonly globalMapPath: string;
  readonly volumeMapPath: string;
}

/** @throws Error when nothing is there: the driver said OK and made nothing */
export function evalHostSymlinks(published: string): string {
  try {
    return fs.realpathSync(published);
  } catch {
    throw new Error(`lstat ${published}: no such file or directory`);
  }
}

/** @throws Error */
export async function mapDevice(
  { paths, mounts, timeline, nodeName }: NodeEnvironment,
  { specName }: VolumeSpec,
  podUid: string,
  device: string,
): Promise<BlockMap> {
  const globalMapPath = paths.blockMap(specName);
  const volumeMapPath = paths.podCsiDevices(podUid);
  const bound = path.join(globalMapPath, podUid);
  const link = paths.podDevice(podUid, specName);
  ensureKubeletFolder(globalMapPath);
  ensureKubeletFolder(volumeMapPath);
  if (!(await mounts.isMountPoint(bound))) {
    fs.closeSync(fs.openSync(bound, 'a', 0o600));
    await mounts.bind(device, bound);
  }
  removeFile(link);
  fs.symlinkSync(device, link);
  const text = `bound ${device} at ${bound}, with a loop device on it; linked ${link}`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'file', about: specName, text });
  return { globalMapPath, volumeMapPath };
}

/** @throws Error */
export async function unmapDevice(
  { paths, mounts, timeline, nodeName }: NodeEnvironment,
  { specName }: VolumeSpec,
  podUid: string,
): Promise<void> {
  const bound = path.join(paths.blockMap(specName), podUid);
  const link = paths.podDevice(podUid, specName);
  removeFile(link);
  if (await mounts.isMountPoint(bound)) await mounts.unmount(bound);
  removeFile(bound);
  const text = `removed the loop device on ${bound}, the bind there and ${link}`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'file', about: specName, text });
}
