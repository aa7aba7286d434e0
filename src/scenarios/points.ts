import type { Method } from '../csi/rpcs';

/**
 * The named points inside the work of a call, in the order in which a call comes by them: where `at:` may place a step
 * besides before, instead and after. Not every call comes by every one (a disk is formatted once). The volume's own
 * lock is held at all of them, from `locked` on.
 */
export const POINTS: Readonly<Partial<Record<Method, readonly string[]>>> = {
  CreateVolume: ['locked', 'beforeCreate', 'bytesMade'],
  DeleteVolume: ['locked', 'beforeDelete', 'destroyed'],
  ControllerPublishVolume: ['locked', 'beforeAttach'],
  ControllerUnpublishVolume: ['locked', 'beforeDetach'],
  ControllerExpandVolume: ['locked', 'bytesGrown'],
  ControllerModifyVolume: ['locked'],
  CreateSnapshot: ['locked', 'beforeCut', 'copied', 'cut', 'committed'],
  DeleteSnapshot: ['locked', 'beforeDelete'],
  CreateVolumeGroupSnapshot: ['locked', 'beforeCut', 'copied', 'cut', 'committed', 'membersCut'],
  DeleteVolumeGroupSnapshot: ['locked', 'beforeDelete', 'groupRemoved'],
  NodeStageVolume: [
    'locked',
    'beforeFormat',
    'formatted',
    'beforeAttach',
    'attached',
    'noted',
    'mounted',
    'staged',
  ],
  NodeUnstageVolume: ['locked', 'beforeUnmount', 'unmounted', 'released'],
  NodePublishVolume: ['locked', 'beforeMount', 'mounted'],
  NodeUnpublishVolume: ['locked', 'beforeUnmount', 'unmounted', 'targetRemoved'],
  NodeExpandVolume: ['locked', 'deviceGrown', 'unmounted', 'grown'],
};
