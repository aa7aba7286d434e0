import type { Method, RequestOf } from '../csi/rpcs';
import type { LockRequest } from '../volumes/locks';
import { groupIdFor, memberIdFor, snapshotIdFor, volumeIdFor } from './names';

type Keys = Partial<LockRequest>;
type Table = { readonly [M in Method]?: (request: RequestOf<M>) => Keys };

/**
 * A volume has two locks, since a controller and a node are two programs that know nothing of each other's calls:
 * attaching must not be refused because a mount hangs. What touches the bytes takes both.
 */
const controller = (id: string) => `volume ${id} (controller)`;
export const nodeLock = (id: string) => `volume ${id} (node)`;
const both = (id: string) => [controller(id), nodeLock(id)];
/** Two volumes that are staged at one path at once would cover each other. */
const staging = (path: string) => `staging path ${path}`;
const snapshot = (id: string) => `snapshot ${id}`;
const group = (id: string) => `group snapshot ${id}`;

const keys: Table = {
  CreateVolume: (request) => {
    const source = request.volume_content_source;
    const shared: string[] = [];
    if (source?.snapshot) shared.push(snapshot(source.snapshot.snapshot_id));
    if (source?.volume) shared.push(...both(source.volume.volume_id));
    return { exclusive: both(volumeIdFor(request.name)), shared };
  },
  DeleteVolume: (request) => ({ exclusive: both(request.volume_id) }),
  ControllerPublishVolume: (request) => ({ exclusive: [controller(request.volume_id)] }),
  ControllerUnpublishVolume: (request) => ({ exclusive: [controller(request.volume_id)] }),
  ControllerExpandVolume: (request) => ({ exclusive: [controller(request.volume_id)] }),
  ControllerModifyVolume: (request) => ({ exclusive: [controller(request.volume_id)] }),
  CreateSnapshot: (request) => ({
    exclusive: [snapshot(snapshotIdFor(request.name))],
    shared: both(request.source_volume_id),
  }),
  DeleteSnapshot: (request) => ({ exclusive: [snapshot(request.snapshot_id)] }),
  GetMetadataAllocated: (request) => ({ shared: [snapshot(request.snapshot_id)] }),
  GetMetadataDelta: (request) => ({
    shared: [snapshot(request.base_snapshot_id), snapshot(request.target_snapshot_id)],
  }),
  CreateVolumeGroupSnapshot: (request) => ({
    exclusive: [
      group(groupIdFor(request.name)),
      ...request.source_volume_ids.map((id) => snapshot(memberIdFor(request.name, id))),
    ],
    shared: request.source_volume_ids.flatMap(both),
  }),
  DeleteVolumeGroupSnapshot: (request) => ({
    exclusive: [group(request.group_snapshot_id), ...request.snapshot_ids.map(snapshot)],
  }),
  NodeStageVolume: (request) => ({
    exclusive: [nodeLock(request.volume_id), staging(request.staging_target_path)],
  }),
  NodeUnstageVolume: (request) => ({
    exclusive: [nodeLock(request.volume_id), staging(request.staging_target_path)],
  }),
  NodePublishVolume: (request) => ({
    exclusive: [nodeLock(request.volume_id), `target ${request.target_path}`],
  }),
  NodeUnpublishVolume: (request) => ({
    exclusive: [nodeLock(request.volume_id), `target ${request.target_path}`],
  }),
  // It may grow the bytes too, when the controller is this very process.
  NodeExpandVolume: (request) => ({ exclusive: both(request.volume_id) }),
};

/** The locks a call needs; none for a call that only looks. */
export function lockKeys<M extends Method>(method: M, request: RequestOf<M>): LockRequest {
  const found = keys[method]?.(request) ?? {};
  return { exclusive: found.exclusive ?? [], shared: found.shared ?? [] };
}
