import { keyOfObject, type PersistentVolume, type PersistentVolumeClaim } from '../objects';
import { type ControllerEnvironment, Sidecar } from './controller-environment';
import { classOf } from './provisioner';

/** Binds claims to volumes, and keeps both while somebody uses them (kube-controller-manager). It calls no driver. */
export class PersistentVolumeController extends Sidecar {
  constructor(env: ControllerEnvironment) {
    super(env, 'rehearsal');
  }

  protected turn(): void {
    const { api } = this.env;
    for (const claim of api.claims.all()) {
      if (claim.phase === 'Pending') this.bind(claim);
      if (claim.deletionTimestamp !== undefined && !this.isInUse(claim)) this.release(claim);
    }
  }

  private bind(claim: PersistentVolumeClaim): void {
    const { api, timeline } = this.env;
    const pv = api.volumes.all().find((candidate) => this.fits(candidate, claim));
    if (!pv) return;
    claim.volumeName = pv.meta.name;
    claim.phase = 'Bound';
    claim.capacityBytes = pv.capacityBytes;
    pv.phase = 'Bound';
    pv.claim = keyOfObject(claim.meta);
    const text = `PVC ${keyOfObject(claim.meta)} Bound to ${pv.meta.name}`;
    timeline.add({ who: 'rehearsal', kind: 'object', about: pv.meta.name, text });
    api.changed();
  }

  private fits(pv: PersistentVolume, claim: PersistentVolumeClaim): boolean {
    if (pv.phase !== 'Available' || pv.volumeMode !== claim.volumeMode) return false;
    if (pv.claim !== undefined) return pv.claim === keyOfObject(claim.meta);
    if (claim.volumeName !== undefined) return claim.volumeName === pv.meta.name;
    const wanted =
      claim.storageClassName ?? classOf(this.env.api.storageClasses.all(), claim)?.meta.name ?? '';
    return (
      wanted === (pv.storageClassName ?? '') &&
      pv.capacityBytes >= claim.requestBytes &&
      claim.accessModes.every((mode) => pv.accessModes.includes(mode))
    );
  }

  /** kubernetes.io/pvc-protection */
  private isInUse(claim: PersistentVolumeClaim): boolean {
    return this.env.api.pods
      .all()
      .some(
        (pod) =>
          pod.meta.namespace === claim.meta.namespace &&
          pod.volumes.some((volume) => volume.claim?.claimName === claim.meta.name),
      );
  }

  private release(claim: PersistentVolumeClaim): void {
    const { api, timeline } = this.env;
    const pv = api.volumeOf(claim);
    if (pv) pv.phase = 'Released';
    timeline.add({ who: 'rehearsal', kind: 'object', text: `PVC ${keyOfObject(claim.meta)} deleted` });
    api.claims.remove(claim);
  }
}
