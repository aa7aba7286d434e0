import { parseInt64 } from '../../csi/int64';
import { RESIZER_TIMEOUT_MS } from '../constants';
import { volumeCapability } from '../csi/capabilities';
import { rpcErrorText } from '../errors';
import { keyOfObject, type PersistentVolume, type PersistentVolumeClaim } from '../objects';
import { CONTROLLER, type ControllerEnvironment, Sidecar } from './controller-environment';
import { classOf } from './provisioner';

/** external-resizer: ControllerExpandVolume for claims that ask for more; the node's part it leaves to the kubelet. */
export class Resizer extends Sidecar {
  constructor(env: ControllerEnvironment) {
    super(env, 'external-resizer');
  }

  protected turn(): void {
    const { api } = this.env;
    for (const claim of api.claims.all()) {
      const pv = api.volumeOf(claim);
      if (!pv || claim.phase !== 'Bound' || pv.driver !== this.env.driverName()) continue;
      if (claim.requestBytes <= pv.capacityBytes) continue;
      this.queue.offer(`expand ${keyOfObject(claim.meta)}`, () => this.expand(claim, pv));
    }
  }

  private async expand(claim: PersistentVolumeClaim, pv: PersistentVolume): Promise<void> {
    const { api, events } = this.env;
    const source = { who: this.who };
    const { driver } = pv;
    try {
      if (!classOf(api.storageClasses.all(), claim)?.allowVolumeExpansion)
        throw new Error('the StorageClass of the claim has no allowVolumeExpansion: true');
      events.emit(source, claim, 'Normal', 'Resizing', `External resizer is resizing volume ${pv.meta.name}`);
      let capacityBytes = claim.requestBytes;
      let nodeExpansion = true;
      if (await this.controllerHas(CONTROLLER.EXPAND_VOLUME, RESIZER_TIMEOUT_MS)) {
        claim.resizeStatus = 'ControllerResizeInProgress';
        const answer = await this.calls.call(
          'ControllerExpandVolume',
          {
            volume_id: pv.volumeHandle,
            capacity_range: { required_bytes: claim.requestBytes.toString() },
            secrets: this.secret(pv.secrets.controllerExpand),
            volume_capability: volumeCapability(pv, pv.accessModes),
          },
          this.calls.context(RESIZER_TIMEOUT_MS, pv.meta.name),
        );
        capacityBytes = parseInt64('capacity_bytes', answer.capacity_bytes);
        nodeExpansion = answer.node_expansion_required;
      }
      // What cannot be written is asked for again: an expansion has to be idempotent.
      api.request('Patch', `/api/v1/persistentvolumes/${pv.meta.name}`);
      pv.capacityBytes = capacityBytes;
      claim.allocatedBytes = claim.requestBytes;
      claim.nodeExpansionNotRequired = !nodeExpansion;
      if (nodeExpansion) {
        claim.resizeStatus = 'NodeResizePending';
        events.emit(
          source,
          claim,
          'Normal',
          'FileSystemResizeRequired',
          'Require file system resize of volume on node',
        );
      } else {
        claim.capacityBytes = capacityBytes;
        claim.resizeStatus = undefined;
        events.emit(source, claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
      }
      api.changed();
    } catch (error) {
      const text = `resize volume "${pv.meta.name}" by resizer "${driver}" failed: ${rpcErrorText(error)}`;
      events.emit(source, claim, 'Warning', 'VolumeResizeFailed', text);
      throw error;
    }
  }
}
