import { keyOfObject, type NodeObject, type PersistentVolumeClaim, type Pod } from '../objects';
import type { KubeletVersion } from '../versions';
import { type ControllerEnvironment, Sidecar } from './controller-environment';
import { notTheOwner } from './ephemeral-volume-controller';
import { isNodeReady } from './node-health';
import { classOf } from './provisioner';
import { fitsNode, isInOneOf } from './topology';

/** What kube-scheduler says of a node that a bound volume cannot be reached from (volumebinding, ErrReasonNodeConflict). */
const NODE_CONFLICT: Readonly<Record<KubeletVersion, string>> = {
  '1.32': 'node(s) had volume node affinity conflict',
  '1.36': "node(s) didn't match PersistentVolume's node affinity",
};
/** Of one where no volume may be made (ErrReasonBindConflict). */
const BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind";

/** As much of kube-scheduler as volumes need: the first ready node that its volumes can reach takes a pod whose claims are bound. */
export class Scheduler extends Sidecar {
  private readonly refused = new Map<string, string>();

  constructor(env: ControllerEnvironment) {
    super(env, 'scheduler');
  }

  protected turn(): void {
    for (const pod of this.env.api.pods.all())
      if (pod.nodeName === undefined && pod.deletionTimestamp === undefined) this.schedule(pod);
  }

  private schedule(pod: Pod): void {
    const { api, events, clock } = this.env;
    const unfit = this.whyNowhere(pod);
    if (unfit !== undefined) {
      this.refuse(pod, unfit);
      return;
    }
    const ready = api.nodes
      .all()
      .filter((candidate) => isNodeReady(candidate, clock.now()) && !candidate.outOfService);
    const reasons = ready.map((candidate) => this.whyNot(pod, candidate));
    const node = ready.find((_, index) => reasons[index] === undefined);
    if (!node) {
      if (reasons.length > 0) this.refuse(pod, counted(reasons));
      return;
    }
    if (!this.areClaimsReady(pod, node)) return;
    pod.nodeName = node.meta.name;
    this.refused.delete(pod.meta.uid);
    const text = `Successfully assigned ${keyOfObject(pod.meta)} to ${node.meta.name}`;
    events.emit({ who: 'scheduler' }, pod, 'Normal', 'Scheduled', text);
    api.changed();
  }

  /** PreFilter of volumebinding: what no node can help. */
  private whyNowhere(pod: Pod): string | undefined {
    const { api } = this.env;
    let hasUnbound = false;
    for (const { claim: reference, template } of pod.volumes) {
      if (!reference) continue;
      const { claimName } = reference;
      const claim = api.claimOf(pod, claimName);
      if (!claim)
        return template
          ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${claimName}"`
          : `persistentvolumeclaim "${claimName}" not found`;
      if (claim.deletionTimestamp !== undefined)
        return `persistentvolumeclaim "${claimName}" is being deleted`;
      const conflict = template && notTheOwner(pod, claim);
      if (conflict !== undefined) return conflict;
      const { bindingMode } = classOf(api.storageClasses.all(), claim) ?? {};
      hasUnbound ||= claim.phase !== 'Bound' && bindingMode !== 'WaitForFirstConsumer';
    }
    return hasUnbound ? 'pod has unbound immediate PersistentVolumeClaims' : undefined;
  }

  private whyNot(pod: Pod, node: NodeObject): string | undefined {
    const { api, version } = this.env;
    for (const { claim: reference } of pod.volumes) {
      const claim = reference && api.claimOf(pod, reference.claimName);
      const pv = claim && api.volumeOf(claim);
      if (pv && !fitsNode(pv, node)) return NODE_CONFLICT[version];
      if (claim && !pv && !this.mayProvision(claim, node)) return BIND_CONFLICT;
    }
    return undefined;
  }

  private mayProvision(claim: PersistentVolumeClaim, node: NodeObject): boolean {
    const storageClass = classOf(this.env.api.storageClasses.all(), claim);
    if (storageClass?.bindingMode !== 'WaitForFirstConsumer') return true;
    return isInOneOf(storageClass.allowedTopologies, node);
  }

  /** Said once for the same reason: the scheduler looks again when something changes. */
  private refuse(pod: Pod, why: string): void {
    const { api, events } = this.env;
    const all = api.nodes.all().length;
    const text = `0/${all} nodes are available: ${why}.`;
    if (this.refused.get(pod.meta.uid) === text) return;
    this.refused.set(pod.meta.uid, text);
    events.emit(
      { who: 'scheduler' },
      pod,
      'Warning',
      'FailedScheduling',
      `${text} preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`,
    );
  }

  private areClaimsReady(pod: Pod, node: NodeObject): boolean {
    const { api, timeline } = this.env;
    let ready = true;
    for (const { claim: reference } of pod.volumes) {
      const claim = reference && api.claimOf(pod, reference.claimName);
      if (!claim || claim.phase === 'Bound') continue;
      ready = false;
      if (claim.selectedNode !== undefined) continue;
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

function counted(reasons: readonly (string | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
