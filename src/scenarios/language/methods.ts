import { type Method, rpcs } from '../../csi/rpcs';

/** Whether a call of this method is about one volume that the driver can tell: by id, or by what it is to create. */
export function carriesVolume(method: Method): boolean {
  const { volumeId } = rpcs[method].subject;
  return volumeId !== undefined || method === 'CreateVolume';
}

/** NodePublishVolume is told the pod (podInfoOnMount); the others come for a target that it was told it for. */
export function carriesPod(method: Method): boolean {
  return ['NodePublishVolume', 'NodeUnpublishVolume', 'NodeGetVolumeStats'].includes(method);
}
