import type { Method, RegistrationMethod } from '../csi/rpcs';
import {
  controllerGetCapabilities,
  groupControllerGetCapabilities,
  nodeGetCapabilities,
} from './capability-replies';
import { controllerPublishVolume, controllerUnpublishVolume } from './controller/attach';
import { getCapacity } from './controller/capacity';
import { createVolume } from './controller/create-volume';
import { deleteVolume } from './controller/delete-volume';
import { controllerExpandVolume } from './controller/expand';
import { controllerGetVolume, listVolumes } from './controller/list-volumes';
import { controllerModifyVolume } from './controller/modify';
import { createSnapshot, deleteSnapshot, getSnapshot, listSnapshots } from './controller/snapshots';
import { validateVolumeCapabilities } from './controller/validate';
import type { Handler, StreamHandler } from './env';
import {
  createVolumeGroupSnapshot,
  deleteVolumeGroupSnapshot,
  getVolumeGroupSnapshot,
} from './group-controller';
import { getPluginCapabilities, getPluginInfo, probe } from './identity';
import { nodeExpandVolume } from './node/expand';
import { nodeGetInfo } from './node/info';
import { nodePublishVolume } from './node/publish';
import { nodeStageVolume, nodeUnstageVolume } from './node/stage';
import { statsHandler } from './node/stats';
import { nodeUnpublishVolume } from './node/unpublish';
import { getMetadataAllocated, getMetadataDelta } from './snapshot-metadata';

export type StreamingMethod = 'GetMetadataAllocated' | 'GetMetadataDelta';
export type UnaryMethod = Exclude<Method, StreamingMethod>;

/** Everything the pipeline may be asked: those of csi.v1, and those by which the kubelet registers a plugin. */
export type Handlers = { readonly [M in UnaryMethod]: Handler<M> } & {
  readonly [M in StreamingMethod]: StreamHandler<M>;
};

/** The functions that answer the kubelet's questions before it calls any RPC of csi.v1 (server/registration). */
export type RegistrationHandlers = Pick<Handlers, RegistrationMethod>;

/** Every RPC and the function that answers it. */
export function makeHandlers(registration: RegistrationHandlers): Handlers {
  return {
    ...registration,

    GetPluginInfo: getPluginInfo,
    GetPluginCapabilities: getPluginCapabilities,
    Probe: probe,

    CreateVolume: createVolume,
    DeleteVolume: deleteVolume,
    ControllerPublishVolume: controllerPublishVolume,
    ControllerUnpublishVolume: controllerUnpublishVolume,
    ValidateVolumeCapabilities: validateVolumeCapabilities,
    ListVolumes: listVolumes,
    GetCapacity: getCapacity,
    ControllerGetCapabilities: controllerGetCapabilities,
    CreateSnapshot: createSnapshot,
    DeleteSnapshot: deleteSnapshot,
    ListSnapshots: listSnapshots,
    GetSnapshot: getSnapshot,
    ControllerExpandVolume: controllerExpandVolume,
    ControllerGetVolume: controllerGetVolume,
    ControllerModifyVolume: controllerModifyVolume,

    CreateVolumeGroupSnapshot: createVolumeGroupSnapshot,
    DeleteVolumeGroupSnapshot: deleteVolumeGroupSnapshot,
    GetVolumeGroupSnapshot: getVolumeGroupSnapshot,
    GroupControllerGetCapabilities: groupControllerGetCapabilities,

    GetMetadataAllocated: getMetadataAllocated,
    GetMetadataDelta: getMetadataDelta,

    NodeStageVolume: nodeStageVolume,
    NodeUnstageVolume: nodeUnstageVolume,
    NodePublishVolume: nodePublishVolume,
    NodeUnpublishVolume: nodeUnpublishVolume,
    NodeGetVolumeStats: statsHandler(),
    NodeExpandVolume: nodeExpandVolume,
    NodeGetCapabilities: nodeGetCapabilities,
    NodeGetInfo: nodeGetInfo,
  };
}
