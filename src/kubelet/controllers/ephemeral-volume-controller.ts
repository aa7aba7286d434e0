import { keyOfObject, newClaim, type PersistentVolumeClaim, type Pod, type PodVolume } from '../objects';
import { type ControllerEnvironment, Sidecar } from './controller-environment';

/** Whether the claim of an ephemeral volume is the pod's own. @returns why not, in the words of component-helpers */
export function notTheOwner(pod: Pod, claim: PersistentVolumeClaim): string | undefined {
  if (claim.ownerUid === pod.meta.uid) return undefined;
  return `PVC ${keyOfObject(claim.meta)} was not created for pod ${keyOfObject(pod.meta)} (pod is not owner)`;
}

/**
 * Makes the claims of generic ephemeral volumes, `<pod>-<volume>`, owned by their pod (pkg/controller/volume/ephemeral), and
 * deletes those whose pod is gone (the garbage collector).
 */
export class EphemeralVolumeController extends Sidecar {
  constructor(env: ControllerEnvironment) {
    super(env, 'rehearsal');
  }

  protected turn(): void {
    const { api, clock } = this.env;
    for (const pod of api.pods.all()) {
      if (pod.deletionTimestamp !== undefined) continue;
      for (const volume of pod.volumes) if (volume.template) this.handle(pod, volume);
    }
    const uids = new Set(api.pods.all().map(({ meta }) => meta.uid));
    for (const claim of api.claims.all()) {
      if (claim.ownerUid === undefined || uids.has(claim.ownerUid)) continue;
      if (claim.deletionTimestamp !== undefined) continue;
      claim.deletionTimestamp = clock.now();
      api.changed();
    }
  }

  private handle(pod: Pod, volume: PodVolume): void {
    const { api, events } = this.env;
    const { claim: reference } = volume;
    const known = reference && api.claimOf(pod, reference.claimName);
    const conflict = known && notTheOwner(pod, known);
    if (conflict !== undefined)
      this.queue.offer(`ephemeral ${pod.meta.uid} ${volume.name}`, async () => {
        const text = `ephemeral volume ${volume.name}: ${conflict}`;
        events.emit({ who: this.who }, pod, 'Warning', 'FailedBinding', text);
        throw new Error(text);
      });
    else if (!known) this.make(pod, volume);
  }

  private make(pod: Pod, { template, claim: reference }: PodVolume): void {
    const { api, timeline } = this.env;
    if (!template || !reference) return;
    const meta = {
      name: reference.claimName,
      namespace: pod.meta.namespace,
      uid: api.uid(`PersistentVolumeClaim ${pod.meta.namespace}/${reference.claimName}`),
    };
    const text = `PVC ${keyOfObject(meta)} made for pod ${keyOfObject(pod.meta)}, its owner`;
    timeline.add({ who: this.who, kind: 'object', text });
    api.claims.add(newClaim(meta, template, { ownerUid: pod.meta.uid }));
  }
}
