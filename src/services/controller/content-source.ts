import type { BackendName } from '../../backends/backend';
import type { VolumeContentSource__Output } from '../../csi/gen/csi/v1/VolumeContentSource';
import { failedPrecondition } from '../../csi/status';
import type { ContentSource } from '../../volumes/records';
import type { Env } from '../env';
import { isReady } from '../replies';
import { findSnapshot, findVolume } from '../resolve';

export interface Source extends ContentSource {
  backend: BackendName;
  fsType: string;
  sizeBytes: bigint;
}

/** The source that a request names; the field rules have seen that it names one. */
export function readSource(source: VolumeContentSource__Output | null): ContentSource | undefined {
  if (source?.snapshot) return { kind: 'snapshot', id: source.snapshot.snapshot_id };
  if (source?.volume) return { kind: 'volume', id: source.volume.volume_id };
  return undefined;
}

/** @throws CsiError NOT_FOUND, or FAILED_PRECONDITION for a snapshot that is not ready to use. */
export async function findSource(env: Env, source: ContentSource | undefined): Promise<Source | undefined> {
  if (!source) return undefined;
  if (source.kind === 'volume') {
    const { backend, fsType, capacityBytes } = await findVolume(env, source.id);
    return { ...source, backend, fsType, sizeBytes: BigInt(capacityBytes) };
  }
  const snapshot = await findSnapshot(env, source.id);
  if (!isReady(env, snapshot))
    throw failedPrecondition(
      `snapshot ${snapshot.id} is not ready to use before ${snapshot.readyAt}; try again then`,
    );
  const { backend, fsType, sizeBytes, createdAt } = snapshot;
  return { ...source, createdAt, backend, fsType, sizeBytes: BigInt(sizeBytes) };
}
