import { ATTACH_DETACH_LOOP_MS, MAX_WAIT_FOR_UNMOUNT_MS } from '../constants';
import { Loop } from '../loop';
import { uniqueVolumeName } from '../names';
import type { NodeObject, PersistentVolume, Pod } from '../objects';
import { OperationExecutor } from '../volumemanager/operation-executor';
import { type ControllerEnvironment, informersOf } from './controller-environment';
import { isNodeReady } from './node-health';
import { VolumeAttachments } from './volume-attachments';

interface Wanted {
  readonly uniqueName: string;
  readonly node: string;
  readonly pv: PersistentVolume;
  readonly pods: Pod[];
}

interface Attached {
  readonly uniqueName: string;
  readonly node: string;
  readonly pv: PersistentVolume;
  /** Uncertain: somebody began to attach it. */
  state: 'Attached' | 'Uncertain';
  detachWantedAt: number | undefined;
  /** Said in node.status.volumesAttached. */
  reported: boolean;
}

/** attachdetach-controller: VolumeAttachments for the volumes of pods that have a node, and none for others. */
export class AttachDetachController {
  readonly executor: OperationExecutor;
  private readonly attached = new Map<string, Attached>();
  private readonly saidMultiAttach = new Set<string>();
  private readonly who = 'attachdetach-controller' as const;
  private readonly volumeAttachments: VolumeAttachments;

  constructor(private readonly env: ControllerEnvironment) {
    this.volumeAttachments = new VolumeAttachments(env);
    const { clock, timeline, signal, api } = env;
    this.executor = new OperationExecutor({
      clock,
      timeline,
      who: this.who,
      signal,
      ended: () => api.changed(),
    });
  }

  start(): void {
    const { clock, signal, api } = this.env;
    const informers = informersOf(this.env, this.who);
    let wasAway = false;
    const turn = (now: number) => {
      wasAway ||= !informers.areSynced;
      if (!informers.areSynced) return undefined;
      if (wasAway) this.beginAnew();
      wasAway = false;
      return this.turn(now);
    };
    const loop = new Loop({ clock, periodMs: ATTACH_DETACH_LOOP_MS, signal, turn });
    api.watch(() => loop.poke());
  }

  /** Without an API server its process loses its lease within 10 s and ends; the next one knows of no wait that had begun. */
  private beginAnew(): void {
    for (const attached of this.attached.values()) attached.detachWantedAt = undefined;
  }

  private turn(now: number): number | undefined {
    const wanted = this.wanted();
    const moments: number[] = [];
    for (const attached of [...this.attached.values()]) {
      if (wanted.has(keyOf(attached.uniqueName, attached.node))) {
        attached.detachWantedAt = undefined;
        continue;
      }
      const due = this.detach(attached, now);
      if (due !== undefined) moments.push(due);
    }
    for (const volume of wanted.values()) this.attach(volume);
    for (const { meta } of this.env.api.nodes.all()) this.report(meta.name);
    const retry = this.executor.nextRetry;
    if (retry !== undefined) moments.push(retry);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  private wanted(): Map<string, Wanted> {
    const { api } = this.env;
    const wanted = new Map<string, Wanted>();
    for (const pod of api.pods.all()) {
      if (pod.nodeName === undefined || pod.phase === 'Failed') continue;
      // A pod that is to be deleted keeps its volumes as long as the object is there, also when its node is dead.
      for (const { claim: reference } of pod.volumes) {
        const claim = reference && api.claimOf(pod, reference.claimName);
        const pv = claim && api.volumeOf(claim);
        if (!pv || claim.phase !== 'Bound' || !api.isAttachRequired(pv.driver)) continue;
        const uniqueName = uniqueVolumeName(pv.driver, pv.volumeHandle);
        const key = keyOf(uniqueName, pod.nodeName);
        const known = wanted.get(key);
        if (known) known.pods.push(pod);
        else wanted.set(key, { uniqueName, node: pod.nodeName, pv, pods: [pod] });
      }
    }
    return wanted;
  }

  private attach({ uniqueName, node, pv, pods }: Wanted): void {
    const { events } = this.env;
    const key = keyOf(uniqueName, node);
    const known = this.attached.get(key);
    if (known?.state === 'Attached' || this.executor.isPending(key)) return;
    const others = [...this.attached.values()].filter(
      (other) => other.uniqueName === uniqueName && other.node !== node,
    );
    // One operation at a time for what only one node may have: a detach that runs is waited for, without a word.
    if (isExclusive(pv) && others.some((other) => this.executor.isPending(keyOf(uniqueName, other.node))))
      return;
    if (others.length > 0 && isExclusive(pv)) {
      for (const pod of pods) {
        const said = `${key} ${pod.meta.uid}`;
        if (this.saidMultiAttach.has(said)) continue;
        this.saidMultiAttach.add(said);
        const why =
          this.whoUses(uniqueName, node) ??
          "Volume is already exclusively attached to one node and can't be attached to another";
        events.emit(
          { who: this.who },
          pod,
          'Warning',
          'FailedAttachVolume',
          `Multi-Attach error for volume "${pv.meta.name}" ${why}`,
        );
      }
      return;
    }
    this.executor.start({
      name: 'volume_attach',
      key: { volume: key, podUid: '' },
      about: `${pv.meta.name} to ${node}`,
      run: () => this.attachNow(uniqueName, node, pv, pods),
    });
  }

  private whoUses(uniqueName: string, notOn: string): string | undefined {
    const names = [...this.wanted().values()]
      .filter((other) => other.uniqueName === uniqueName && other.node !== notOn)
      .flatMap(({ pods }) => pods.map(({ meta }) => meta.name));
    return names.length === 0 ? undefined : `Volume is already used by pod(s) ${names.join(', ')}`;
  }

  private async attachNow(
    uniqueName: string,
    node: string,
    pv: PersistentVolume,
    pods: readonly Pod[],
  ): Promise<void> {
    const { api, events, signal } = this.env;
    const source = { who: this.who };
    const attached: Attached = this.attached.get(keyOf(uniqueName, node)) ?? {
      uniqueName,
      node,
      pv,
      state: 'Uncertain',
      detachWantedAt: undefined,
      reported: false,
    };
    this.attached.set(keyOf(uniqueName, node), attached);
    try {
      await this.volumeAttachments.attach(pv, node);
    } catch (error) {
      signal.throwIfAborted();
      const message = `AttachVolume.Attach failed for volume "${pv.meta.name}" : ${(error as Error).message}`;
      for (const pod of pods) events.emit(source, pod, 'Warning', 'FailedAttachVolume', message);
      throw new Error(message);
    }
    attached.state = 'Attached';
    attached.reported = true;
    const message = `AttachVolume.Attach succeeded for volume "${pv.meta.name}"`;
    for (const pod of pods) events.emit(source, pod, 'Normal', 'SuccessfulAttachVolume', message);
    api.changed();
  }

  /** @returns the moment at which it may be forced, should it have to wait for that */
  private detach(attached: Attached, now: number): number | undefined {
    const { api, timeline } = this.env;
    const { uniqueName, node: nodeName, pv } = attached;
    const key = keyOf(uniqueName, nodeName);
    if (this.executor.isPending(key)) return undefined;
    attached.detachWantedAt ??= now;
    const node = api.nodes.get(nodeName);
    const deadline = attached.detachWantedAt + MAX_WAIT_FOR_UNMOUNT_MS;
    const isLate = now > deadline;
    const isForced = node?.outOfService === true || (isLate && (!node || !isNodeReady(node, now)));
    const inUse = node?.volumesInUse.includes(uniqueName) === true;
    if (inUse && !isForced) {
      timeline.log({
        who: this.who,
        about: pv.meta.name,
        text: `Cannot detach volume from ${nodeName}: volume is still in use by node, according to Node status`,
      });
      return isLate ? undefined : deadline + 1;
    }
    if (isForced && inUse)
      timeline.log({
        who: this.who,
        about: pv.meta.name,
        text: `Forced detach from ${nodeName}: ${node?.outOfService === true ? 'the node is out of service' : '6 minutes have passed and the node is not ready'}; reason ${node?.outOfService === true ? 'out-of-service' : 'timeout'}`,
      });
    const started = this.executor.start({
      name: 'volume_detach',
      key: { volume: key, podUid: '' },
      about: `${pv.meta.name} from ${nodeName}`,
      run: () => this.detachNow(attached),
    });
    if (started) attached.reported = false;
    return undefined;
  }

  private async detachNow(attached: Attached): Promise<void> {
    const { api } = this.env;
    const { pv, node } = attached;
    try {
      await this.volumeAttachments.detach(pv, node);
    } catch (error) {
      // It may be attached still: the kubelet is told so.
      attached.reported = true;
      throw error;
    }
    this.attached.delete(keyOf(attached.uniqueName, node));
    for (const said of [...this.saidMultiAttach])
      if (said.startsWith(attached.uniqueName)) this.saidMultiAttach.delete(said);
    api.changed();
  }

  private report(nodeName: string): void {
    const node: NodeObject | undefined = this.env.api.nodes.get(nodeName);
    if (!node) return;
    const before = node.volumesAttached.join(', ');
    node.volumesAttached = [...this.attached.values()]
      .filter((attached) => attached.node === nodeName && attached.reported)
      .map(({ uniqueName }) => uniqueName)
      .sort();
    const now = node.volumesAttached.join(', ');
    if (now === before) return;
    const text = `node.status.volumesAttached of ${nodeName}: [${now}]`;
    this.env.timeline.add({ who: this.who, kind: 'object', text });
    this.env.api.changed();
  }

  /** For people: what keeps a pod's volume from being attached there. */
  attachmentOf(uniqueName: string, node: string): Readonly<Attached> | undefined {
    return this.attached.get(keyOf(uniqueName, node));
  }

  /** Where it is attached, besides `node`. */
  elsewhere(uniqueName: string, node: string): string[] {
    return [...this.attached.values()]
      .filter((attached) => attached.uniqueName === uniqueName && attached.node !== node)
      .map(({ node: other }) => other);
  }
}

function keyOf(uniqueName: string, node: string): string {
  return `${uniqueName} ${node}`;
}

/** A volume with a mode for many nodes may be attached to many. */
function isExclusive({ accessModes }: PersistentVolume): boolean {
  return (
    accessModes.length > 0 && !accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
  );
}
