import * as path from 'node:path';
import { namesIn } from '../../util/files';
import type { KubeletPaths } from '../names';
import type { VolumeMode } from '../objects';
import { readVolData } from '../vol-data';
import { reconstructedSpec, type VolumeSpec } from './spec';

export interface Reconstructed {
  readonly volumes: readonly { readonly podUid: string; readonly spec: VolumeSpec }[];
  /** What lies there and cannot be read: nobody will ever unmount it. */
  readonly failed: readonly { readonly folder: string; readonly reason: string }[];
}

/**
 * What a kubelet finds of its volumes when it starts (volumemanager/reconciler/reconstruct.go): only the folders of pods are
 * searched, so that a volume that is staged and no more published is not found (k/k#85476).
 */
export function reconstruct(paths: KubeletPaths): Reconstructed {
  const volumes: { podUid: string; spec: VolumeSpec }[] = [];
  const failed: { folder: string; reason: string }[] = [];
  const read = (podUid: string, specName: string, folder: string, mode: VolumeMode) => {
    try {
      volumes.push({ podUid, spec: reconstructedSpec(podUid, specName, readVolData(folder), mode) });
    } catch (error) {
      failed.push({ folder, reason: (error as Error).message });
    }
  };
  for (const podUid of namesIn(paths.pods).sort()) {
    for (const name of namesIn(paths.podCsiVolumes(podUid)).sort())
      read(podUid, name, path.join(paths.podCsiVolumes(podUid), name), 'Filesystem');
    for (const name of namesIn(paths.podCsiDevices(podUid)).sort())
      read(podUid, name, paths.blockData(name), 'Block');
  }
  return { volumes, failed };
}
