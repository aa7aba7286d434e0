import * as path from 'node:path';
import { namesIn } from '../../util/files';
import type { KubeletPaths } from '../names';
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
  for (const podUid of namesIn(paths.pods).sort())
    for (const specName of namesIn(paths.podCsiVolumes(podUid)).sort()) {
      const folder = path.join(paths.podCsiVolumes(podUid), specName);
      try {
        volumes.push({ podUid, spec: reconstructedSpec(podUid, specName, readVolData(folder)) });
      } catch (error) {
        failed.push({ folder, reason: (error as Error).message });
      }
    }
  return { volumes, failed };
}
