import { keyOfObject, type PersistentVolume, type PersistentVolumeClaim, type Pod } from '../objects';
import { type ControllerEnvironment, Sidecar } from './controller-environment';
import { classOf } from './provisioner';

/** As `kubectl describe` names it. */
const SOURCE = 'persistentvolume-controller';
/** Of classes whose volumes are made by hand. */
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** Binds claims to volumes, and keeps both while somebody uses them (kube-controller-manager). It calls no driver. */
export class PersistentVolumeController extends Sidecar {
  /** What was said last of a claim, by its uid. */
  private readonly told = new Map<string, string>();

  constructor(env: ControllerEnvironment) {
    super(env, 'rehearsal');
  }

  protected turn(): void {
    const { api } = this.env;
    for (const claim of api.claims.all()) {
      if (claim.phase === 'Pending' && !this.bind(claim)) this.tell(claim);
      if (claim.deletionTimestamp !== undefined && !this.isInUse(claim)) this.release(claim);
    }
  }

  private bind(claim: PersistentVolumeClaim): boolean {
    const { api, timeline } = this.env;
    const pv = api.volumes.all().find((candidate) => this.fits(candidate, claim));
    if (!pv) return false;
    claim.volumeName = pv.meta.name;
    claim.phase = 'Bound';
    claim.capacityBytes = pv.capacityBytes;
    pv.phase = 'Bound';
    pv.claim = keyOfObject(claim.meta);
    const text = `PVC ${keyOfObject(claim.meta)} Bound to ${pv.meta.name}`;
    timeline.add({ who: 'rehearsal', kind: 'object', about: pv.meta.name, text });
    api.changed();
    return true;
  }

  /** Once for what it waits for; a real one says it again every 15 s, which only counts the event up. */
  private tell(claim: PersistentVolumeClaim): void {
    const waits = this.waitsFor(claim);
    if (!waits || this.told.get(claim.meta.uid) === waits.message) return;
    this.told.set(claim.meta.uid, waits.message);
    this.env.events.emit({ who: SOURCE }, claim, waits.type, waits.reason, waits.message);
  }

  /** pv_controller.go, syncUnboundClaim: a claim that no volume is there for. */
  private waitsFor(
    claim: PersistentVolumeClaim,
  ): { type: 'Normal' | 'Warning'; reason: string; message: string } | undefined {
    const { api } = this.env;
    const isMade = api.volumes.get(`pvc-${claim.meta.uid}`) !== undefined;
    if (claim.volumeName !== undefined || claim.deletionTimestamp !== undefined || isMade) return undefined;
    const storageClass = classOf(api.storageClasses.all(), claim);
    if (!storageClass) {
      const { storageClassName = '' } = claim;
      return storageClassName === ''
        ? {
            type: 'Normal',
            reason: 'FailedBinding',
            message: 'no persistent volumes available for this claim and no storage class is set',
          }
        : {
            type: 'Warning',
            reason: 'ProvisioningFailed',
            message: `storageclass.storage.k8s.io "${storageClassName}" not found`,
          };
    }
    if (storageClass.bindingMode === 'WaitForFirstConsumer' && claim.selectedNode === undefined)
      return { type: 'Normal', ...this.consumerOf(claim) };
    if (storageClass.provisioner === NO_PROVISIONER) return undefined;
    if (claim.storageProvisioner !== storageClass.provisioner) {
      // The external provisioner begins at the annotation, and not before.
      claim.storageProvisioner = storageClass.provisioner;
      api.changed();
    }
    return {
      type: 'Normal',
      reason: 'ExternalProvisioning',
      message: `Waiting for a volume to be created either by the external provisioner '${storageClass.provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    };
  }

  private consumerOf(claim: PersistentVolumeClaim): { reason: string; message: string } {
    const waiting = this.podsOf(claim).filter(({ nodeName }) => nodeName === undefined);
    const names = waiting.map(({ meta }) => meta.name).join(',');
    if (waiting.length === 0)
      return {
        reason: 'WaitForFirstConsumer',
        message: 'waiting for first consumer to be created before binding',
      };
    return {
      reason: 'WaitForPodScheduled',
      message: `waiting for ${waiting.length > 1 ? 'pods' : 'pod'} ${names} to be scheduled`,
    };
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
    return this.podsOf(claim).length > 0;
  }

  private podsOf(claim: PersistentVolumeClaim): readonly Pod[] {
    return this.env.api.pods
      .all()
      .filter(
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
