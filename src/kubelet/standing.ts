import type { Cluster, ClusterNode } from './cluster';
import { classOf } from './controllers/provisioner';
import type { WorkState } from './controllers/work-queue';
import { rpcErrorText } from './errors';
import { uniqueInlineName, uniqueVolumeName, volumeAttachmentName } from './names';
import { keyOfObject, type PersistentVolume, type PersistentVolumeClaim, type Pod } from './objects';
import { describe, rounded } from './standing-operation';
import { pluginStandings } from './standing-plugins';
import type { Timeline } from './timeline/timeline';
import type { AttachedVolume } from './volumemanager/actual-state-of-world';
import type { OperationState } from './volumemanager/operation-executor';
import { unusedVolumesOf } from './volumemanager/populator';

/** Where one thing stands, and why. */
export interface Standing {
  /** `pod default/web-0`, `volume pvc-…` */
  readonly what: string;
  readonly state: string;
  readonly why: readonly string[];
}

/** Says of everything where it stands: for a person who asks why a pod does not run, or does not go. */
export class Standings {
  constructor(
    private readonly cluster: Cluster,
    private readonly timeline: Timeline,
  ) {}

  all(): Standing[] {
    const pods = this.cluster.api.pods.all();
    const { clean } = this.timeline;
    return [
      ...this.apiServer(),
      ...pluginStandings(this.cluster),
      ...pods.map((pod) => this.pod(pod)),
      ...this.leftVolumes(),
      ...this.leftAttachments(),
    ].map(({ what, state, why }) => ({ what: clean(what), state: clean(state), why: why.map(clean) }));
  }

  /** Said when it is why others stand still. */
  private apiServer(): Standing[] {
    const { api } = this.cluster;
    if (api.downSince === undefined) return [];
    const why = [
      'the API server is down: no controller and no sidecar does anything, kubelets keep what is mounted, and what they report is not written; `api start` brings it back',
    ];
    return [
      {
        what: 'API server',
        state: `down since +${(this.timeline.since(api.downSince) / 1_000).toFixed(1)}s`,
        why,
      },
    ];
  }

  private pod(pod: Pod): Standing {
    const what = `pod ${keyOfObject(pod.meta)}`;
    const node = pod.nodeName === undefined ? undefined : this.cluster.node(pod.nodeName);
    const isDown = node !== undefined && !node.kubelet;
    const knowsNoPod = node?.kubelet?.sources.areReady === false;
    const volumes =
      isDown || knowsNoPod ? [] : pod.volumes.flatMap((volume) => this.volumeOf(pod, volume.name, node));
    if (pod.deletionTimestamp !== undefined)
      return { what, state: 'Terminating', why: [...this.kubeletDown(node), ...volumes] };
    if (pod.phase === 'Failed') return { what, state: `Failed: ${pod.reason}`, why: [] };
    if (pod.phase === 'Running')
      return { what, state: 'Running', why: [...this.kubeletDown(node), ...volumes] };
    const unscheduled = node ? [] : ['not assigned to a node: its claims are not bound, or no node is ready'];
    return {
      what,
      state: 'Pending (ContainerCreating)',
      why: [...unscheduled, ...this.kubeletDown(node), ...volumes],
    };
  }

  private kubeletDown(node: ClusterNode | undefined): string[] {
    if (!node) return [];
    const { name } = node.object.meta;
    if (!node.kubelet) return [`the kubelet of ${name} does not run`];
    if (node.kubelet.sources.areReady) return [];
    return [
      `the kubelet of ${name} knows no pod yet: it was started while the API server was down, and neither mounts nor unmounts anything before it has heard of all pods`,
    ];
  }

  private volumeOf(pod: Pod, name: string, node: ClusterNode | undefined): string[] {
    const { api } = this.cluster;
    const volume = pod.volumes.find((candidate) => candidate.name === name);
    if (unusedVolumesOf(pod).includes(name))
      return [`volume ${name}: no container has it in volumeMounts or volumeDevices: it is never mounted`];
    if (volume?.csi) return this.onNode(`volume ${name}`, uniqueInlineName(pod.meta.uid, name), pod, node);
    if (!volume?.claim) return [];
    const claim = api.claimOf(pod, volume.claim.claimName);
    if (!claim) return [`volume ${name}: PVC ${volume.claim.claimName} does not exist`];
    const pv = api.volumeOf(claim);
    const subject = `volume ${name} (${pv?.meta.name ?? `PVC ${claim.meta.name}`})`;
    if (!pv) return [`${subject}: not bound${this.whyUnbound(claim)}`];
    const uniqueName = uniqueVolumeName(pv.driver, pv.volumeHandle);
    const known = node?.kubelet?.asw.get(uniqueName);
    if (node && !known && api.isAttachRequired(pv.driver))
      return [`${subject}: ${this.attach(pv, uniqueName, node)}`];
    return this.onNode(subject, uniqueName, pod, node);
  }

  private whyUnbound(claim: PersistentVolumeClaim): string {
    const { api, provisioner } = this.cluster;
    const worked = provisioner.queue.get(`create ${keyOfObject(claim.meta)}`);
    if (worked) return this.worked(worked, 'CreateVolume', `pvc-${claim.meta.uid}`);
    if (claim.storageClassName === '') return ': no PersistentVolume fits it, and it has no StorageClass';
    const storageClass = classOf(api.storageClasses.all(), claim);
    if (!storageClass)
      return claim.storageClassName === undefined
        ? ': it names no StorageClass, and none is the default'
        : `: StorageClass "${claim.storageClassName}" does not exist`;
    const drivers = this.cluster.allNodes().flatMap(({ object }) => [...object.csiDrivers.keys()]);
    if (drivers.includes(storageClass.provisioner)) return '';
    return `: its StorageClass names the driver ${storageClass.provisioner}; registered ${drivers.length === 0 ? 'is none' : `is ${drivers.join(', ')}`}`;
  }

  private attach(pv: PersistentVolume, uniqueName: string, node: ClusterNode): string {
    const { api, attachDetach, attacher } = this.cluster;
    const { name } = node.object.meta;
    const elsewhere = attachDetach.elsewhere(uniqueName, name);
    const attached = attachDetach.attachmentOf(uniqueName, name);
    if (elsewhere.length > 0 && !attached)
      return `stuck attaching: still attached to ${elsewhere.join(', ')}, and a volume of this access mode can be on one node only (Multi-Attach)`;
    const attachmentName = volumeAttachmentName(pv.volumeHandle, pv.driver, name);
    const attachment = api.attachments.get(attachmentName);
    if (!attachment) return 'waits for the attach/detach controller to make a VolumeAttachment';
    if (!attachment.attached)
      return `stuck attaching: the kubelet sends no call before${this.attacherOf(pv.driver) ?? this.worked(attacher.queue.get(`attach ${attachmentName}`), 'ControllerPublishVolume', pv.meta.name)}`;
    if (!node.object.volumesInUse.includes(uniqueName))
      return 'attached; waits for the node to report it in volumesInUse (with its status, each 10 s)';
    return 'attached; waits for the kubelet to see it in volumesAttached';
  }

  /** Why no external-attacher looks at volumes of the driver; undefined: one does. */
  private attacherOf(driver: string): string | undefined {
    const { pluginName } = this.cluster;
    if (pluginName === driver) return undefined;
    const found = pluginName === undefined ? 'has not said its name' : `is ${pluginName}`;
    return `: no external-attacher attaches for ${driver}; the plugin that the sidecars stand beside ${found}`;
  }

  /** What a sidecar does about it, or waits for. */
  private worked(state: WorkState | undefined, method: string, about: string): string {
    if (!state) return '';
    if (state.isBusy)
      return `: ${method} runs since ${this.runningSince(method, about)}${state.lastError ? `, after ${state.failures} failures: ${rpcErrorText(state.lastError)}` : ''}`;
    const left = Math.max(0, state.retryAt - this.cluster.api.clock.now());
    return `: ${method} fails (${state.failures} times): ${rpcErrorText(state.lastError)}; next try in ${rounded(left)}`;
  }

  private runningSince(method: string, about: string): string {
    const call = this.timeline.calls.findLast(
      (entry) => entry.method === method && entry.about === about && entry.code === undefined,
    );
    return call ? rounded(this.timeline.elapsed - call.at) : 'now';
  }

  private onNode(subject: string, uniqueName: string, pod: Pod, node: ClusterNode | undefined): string[] {
    const kubelet = node?.kubelet;
    if (!kubelet) return [];
    const known = kubelet.asw.get(uniqueName);
    const mounted = known?.pods.get(pod.meta.uid);
    const mount = mounted?.state ?? 'NotMounted';
    const state = `${subject}: device ${known?.device ?? 'NotMounted'}, pod mount ${mount}`;
    const operation = kubelet.executor
      .all()
      .find(({ key, podUid = pod.meta.uid }) => key.volume === uniqueName && podUid === pod.meta.uid);
    const said = operation ? [describe(operation, this.timeline, kubelet.clock.now())] : [];
    if (!pod.terminated) {
      const idle =
        pod.deletionTimestamp === undefined ? 'waits for its turn' : 'its containers are being ended';
      const waits = mount === 'Mounted' || operation ? said : [idle];
      return [[state, ...waits].join('; ')];
    }
    const log = this.timeline.entries.findLast(
      ({ kind, text, about }) =>
        kind === 'log' && about === mounted?.spec.specName && /unm(ount|app)er failed to load/.test(text),
    );
    if (mount === 'NotMounted')
      said.unshift(
        "stuck: something is still mounted below the pod's folder although NodeUnpublishVolume said OK; it will not be sent again before the kubelet is started anew",
      );
    else if (log && !operation)
      said.unshift(
        `stuck: ${log.text}; no NodeUnpublishVolume will be sent, and the kubelet tries again each 100 ms`,
      );
    return [[state, ...said].join('; ')];
  }

  /** What the kubelet knows and no pod wants. */
  private leftVolumes(): Standing[] {
    return this.cluster.allNodes().flatMap(({ kubelet, object }) => {
      if (!kubelet) return [];
      const wanted = new Set(this.cluster.api.pods.all().map(({ meta }) => meta.uid));
      return kubelet.asw
        .all()
        .filter(
          (volume) =>
            ![...volume.pods.keys()].some((uid) => wanted.has(uid)) && !kubelet.dsw.get(volume.uniqueName),
        )
        .map((volume) => this.leftVolume(volume, object.meta.name, kubelet.executor.all()));
    });
  }

  private leftVolume(volume: AttachedVolume, node: string, operations: readonly OperationState[]): Standing {
    const operation = operations.find(({ key }) => key.volume === volume.uniqueName);
    return {
      what: `volume ${volume.spec.specName}`,
      state: `no pod on ${node} wants it: device ${volume.device}`,
      why: operation ? [describe(operation, this.timeline, this.cluster.api.clock.now())] : [],
    };
  }

  private leftAttachments(): Standing[] {
    const { api, attacher, attachDetach } = this.cluster;
    return api.attachments.all().flatMap((attachment) => {
      const pv = api.volumes.get(attachment.persistentVolumeName);
      const uniqueName = pv && uniqueVolumeName(pv.driver, pv.volumeHandle);
      const isWanted = api.pods
        .all()
        .some(
          (pod) =>
            pod.nodeName === attachment.nodeName &&
            pod.volumes.some(
              ({ claim }) => claim && pv?.claim === `${pod.meta.namespace}/${claim.claimName}`,
            ),
        );
      if (isWanted && attachment.deletionTimestamp === undefined) return [];
      const why: string[] = [];
      if (attachment.deletionTimestamp !== undefined)
        why.push(
          `stuck detaching${this.worked(attacher.queue.get(`detach ${attachment.meta.name}`), 'ControllerUnpublishVolume', attachment.persistentVolumeName)}`,
        );
      else if (
        uniqueName !== undefined &&
        api.nodes.get(attachment.nodeName)?.volumesInUse.includes(uniqueName)
      )
        why.push(
          'not detached: the node still reports it in volumesInUse (a forced detach takes 6 minutes and a node that is not ready, or the taint out-of-service)',
        );
      const wantedAt =
        uniqueName === undefined
          ? undefined
          : attachDetach.attachmentOf(uniqueName, attachment.nodeName)?.detachWantedAt;
      if (wantedAt !== undefined) why.push(`detach wanted since ${rounded(api.clock.now() - wantedAt)}`);
      return [
        {
          what: `VolumeAttachment of ${attachment.persistentVolumeName}`,
          state: `on ${attachment.nodeName}, attached: ${attachment.attached}`,
          why,
        },
      ];
    });
  }
}
