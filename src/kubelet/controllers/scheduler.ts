import { keyOfObject, type NodeObject, type Pod } from '../objects';
import { type ControllerEnvironment, Sidecar } from './controller-environment';
import { isNodeReady } from './node-health';
import { classOf } from './provisioner';

/** As much of kube-scheduler as volumes need: the first ready node takes every pod whose claims are bound. */
export class Scheduler extends Sidecar {
  constructor(env: ControllerEnvironment) {
    super(env, 'scheduler');
  }

  protected turn(): void {
    for (const pod of this.env.api.pods.all())
      if (pod.nodeName === undefined && pod.deletionTimestamp === undefined) this.schedule(pod);
  }

  private schedule(pod: Pod): void {
    const { api, events, clock } = this.env;
    const node = api.nodes
      .all()
      .find((candidate) => isNodeReady(candidate, clock.now()) && !candidate.outOfService);
    if (!node || !this.areClaimsReady(pod, node)) return;
    pod.nodeName = node.meta.name;
    const text = `Successfully assigned ${keyOfObject(pod.meta)} to ${node.meta.name}`;
    events.emit({ who: 'scheduler' }, pod, 'Normal', 'Scheduled', text);
    api.changed();
  }

  private areClaimsReady(pod: Pod, node: NodeObject): boolean {
    const { api, timeline } = this.env;
    let ready = true;
    for (const { claim: reference } of pod.volumes) {
      if (!reference) continue;
      const claim = api.claimOf(pod, reference.claimName);
      if (claim?.phase === 'Bound') continue;
      ready = false;
      if (!claim) {
        const text = `persistentvolumeclaim "${reference.claimName}" not found`;
        timeline.log({ who: 'scheduler', about: keyOfObject(pod.meta), text });
        continue;
      }
      const storageClass = classOf(api.storageClasses.all(), claim);
      if (storageClass?.bindingMode !== 'WaitForFirstConsumer' || claim.selectedNode !== undefined) continue;
      claim.selectedNode = node.meta.name;
      timeline.add({
        who: 'scheduler',
        kind: 'object',
        about: keyOfObject(pod.meta),
        text: `PVC ${keyOfObject(claim.meta)}: volume.kubernetes.io/selected-node: ${node.meta.name}`,
      });
      api.changed();
    }
    return ready;
  }
}
