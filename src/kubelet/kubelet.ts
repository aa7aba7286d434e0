import { setMaxListeners } from 'node:events';
import type { CsiClient } from '../csi/client';
import type { Clock } from '../util/clock';
import { namesIn } from '../util/files';
import type { ApiServer } from './api-server';
import { rejectOverLimit, watchAttachLimit } from './attach-limit';
import type { KubeletConfiguration } from './configuration';
import { HOUSEKEEPING_MS, RECONCILER_LOOP_MS } from './constants';
import { type CallsOptions, CsiCalls } from './csi/calls';
import type { MountView } from './csi/mount-view';
import type { Events } from './events';
import { Loop } from './loop';
import type { KubeletPaths } from './names';
import { postNodeStatus } from './node-status';
import { keyOfObject, type Pod } from './objects';
import { cleanUpOrphans } from './orphans';
import { CsiPlugin } from './pluginmanager/csi-plugin';
import { NodeInfoManager } from './pluginmanager/node-info-manager';
import { pluginHandlers } from './pluginmanager/plugin-handlers';
import { PluginManager } from './pluginmanager/plugin-manager';
import type { PluginsFolder } from './pluginmanager/plugins-folder';
import { PodSources } from './pod-sources';
import { PodWorker, type PodWorkerHost } from './pod-worker';
import type { Seeded } from './seeded';
import { ServiceAccountTokens } from './service-account-tokens';
import { StatusManager } from './status-manager';
import type { Timeline } from './timeline/timeline';
import { type Behaviour, behaviourOf, type KubeletVersion } from './versions';
import { watchVolumeStats } from './volume-stats';
import { ActualStateOfWorld } from './volumemanager/actual-state-of-world';
import { DesiredStateOfWorld } from './volumemanager/desired-state-of-world';
import type { OperationEnvironment } from './volumemanager/operation-errors';
import { OperationExecutor } from './volumemanager/operation-executor';
import { PodVolumes } from './volumemanager/pod-volumes';
import { Populator } from './volumemanager/populator';
import { Reconciler } from './volumemanager/reconciler';
import { reconstruct } from './volumemanager/reconstruction';
import { isAttachable } from './volumemanager/spec';

export interface KubeletOptions {
  readonly nodeName: string;
  readonly version: KubeletVersion;
  readonly api: ApiServer;
  readonly clock: Clock;
  /** Looks at the mount table at each period, since others may mount there, too. */
  readonly isRealTime: boolean;
  readonly timeline: Timeline;
  readonly events: Events;
  readonly seeded: Seeded;
  readonly paths: KubeletPaths;
  readonly mounts: MountView;
  readonly configuration: KubeletConfiguration;
  /** Its plugins_registry. */
  readonly plugins: PluginsFolder;
  connect(endpoint: string | undefined): CsiClient;
}

/** One process of a kubelet, from its start to its end. What is to outlive it is on the disk and in the API server. */
export class Kubelet implements PodWorkerHost {
  readonly nodeName: string;
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly isRealTime: boolean;
  readonly timeline: Timeline;
  readonly events: Events;
  readonly seeded: Seeded;
  readonly paths: KubeletPaths;
  readonly mounts: MountView;
  readonly configuration: KubeletConfiguration;
  readonly dsw: DesiredStateOfWorld;
  readonly asw: ActualStateOfWorld;
  readonly populator: Populator;
  readonly volumes: PodVolumes;
  readonly sources: PodSources;
  readonly status: StatusManager;
  readonly executor: OperationExecutor;
  readonly calls: CsiCalls;
  readonly csi: CsiPlugin;
  readonly pluginManager: PluginManager;
  private readonly reconciler: Reconciler;
  private readonly behaviour: Behaviour;
  private readonly life = new AbortController();
  /** By uid: pods that have had a worker. One whose object was removed by force still has to be ended. */
  private readonly pods = new Map<string, Pod>();
  private readonly unwatch: () => void;

  constructor(options: KubeletOptions) {
    const { nodeName, api, clock, timeline, events, paths, mounts, plugins, version } = options;
    this.nodeName = nodeName;
    this.api = api;
    this.clock = clock;
    this.isRealTime = options.isRealTime;
    this.timeline = timeline;
    this.events = events;
    this.seeded = options.seeded;
    this.paths = paths;
    this.mounts = mounts;
    this.configuration = options.configuration;
    this.behaviour = behaviourOf(version);
    this.dsw = new DesiredStateOfWorld(this.behaviour.knowsEveryName);
    const { signal } = this.life;
    // Everything that waits listens to it.
    setMaxListeners(0, signal);
    const callsOf = (connect: CallsOptions['connect']) =>
      new CsiCalls({ clock, timeline, who: 'kubelet', node: nodeName, signal, connect });
    this.calls = callsOf((driver) => options.connect(driver && this.csi.endpointOf(driver)));
    this.csi = new CsiPlugin({
      calls: this.calls,
      nodeInfo: new NodeInfoManager({ api, timeline, nodeName }),
      signal,
      registered: (driver) => this.watchLimits(driver),
    });
    this.pluginManager = new PluginManager({
      clock,
      timeline,
      nodeName,
      signal,
      folder: plugins,
      calls: callsOf((socket = '') => plugins.connect(socket)),
      handlers: pluginHandlers(this.csi, this.behaviour),
      retriesRegistration: this.behaviour.retriesRegistration,
    });
    this.asw = new ActualStateOfWorld((volume, text) => {
      timeline.add({ who: 'kubelet', node: nodeName, kind: 'state', about: volume.spec.specName, text });
      this.changed();
    });
    this.executor = new OperationExecutor({
      clock,
      timeline,
      who: 'kubelet',
      node: nodeName,
      signal,
      ended: () => this.changed(),
    });
    const { asw, dsw, executor } = this;
    const { seeded } = this;
    this.sources = new PodSources({ api, clock, seeded, timeline, nodeName, signal });
    this.status = new StatusManager({ api, clock, timeline, nodeName, signal });
    const { sources } = this;
    this.populator = new Populator({
      api,
      pods: () => sources.pods(),
      areSourcesReady: () => sources.areReady,
      dsw,
      asw,
      isTerminated: (uid) => this.isTerminated(uid),
    });
    const { populator } = this;
    this.volumes = new PodVolumes(dsw, asw, populator);
    this.reconciler = new Reconciler({ env: this.environment(), dsw, populator, executor });
    this.reconstruct();
    this.unwatch = this.startLoops();
  }

  private environment(): OperationEnvironment {
    const { nodeName, api, clock, timeline, paths, mounts, calls, behaviour, asw, events, csi } = this;
    const isRegistered = (driver: string) => csi.isRegistered(driver);
    const tokens = new ServiceAccountTokens(clock, this.seeded, api);
    return {
      nodeName,
      api,
      clock,
      timeline,
      paths,
      mounts,
      calls,
      behaviour,
      tokens,
      asw,
      events,
      isRegistered,
    };
  }

  /** Something happened that loops may have waited for. */
  changed(): void {
    if (!this.life.signal.aborted) this.api.changed();
  }

  private startLoops(): () => void {
    const { clock, api, populator, reconciler } = this;
    const { signal } = this.life;
    const loops = [
      new Loop({
        clock,
        periodMs: RECONCILER_LOOP_MS,
        signal,
        turn: (now) => {
          if (populator.turn()) this.changed();
          const next = reconciler.turn(now);
          this.startWorkers();
          return next;
        },
      }),
      new Loop({ clock, periodMs: HOUSEKEEPING_MS, signal, turn: (now) => this.housekeep(now) }),
    ];
    this.background(postNodeStatus(this, signal));
    this.background(this.sources.wait());
    return api.watch(() => {
      for (const loop of loops) loop.poke();
    });
  }

  /** It ends as a process that is killed: calls are cancelled, nothing is undone. */
  stop(): void {
    this.life.abort(new Error('the kubelet has ended'));
    this.unwatch();
  }

  private background(work: Promise<void>): void {
    work.catch((error) => {
      if (!this.life.signal.aborted) throw error;
    });
  }

  private startWorkers(): void {
    const { sources, pods } = this;
    for (const pod of sources.pods()) {
      if (pods.has(pod.meta.uid)) continue;
      pods.set(pod.meta.uid, pod);
      if (pod.containersRunning && pod.deletionTimestamp === undefined) this.watchStats(pod);
      this.background(new PodWorker(this, pod, this.life.signal).run());
    }
  }

  private isTerminated(podUid: string): boolean {
    const pod = this.pods.get(podUid) ?? this.api.pods.all().find(({ meta }) => meta.uid === podUid);
    return pod === undefined || pod.terminated || pod.phase === 'Failed';
  }

  private reconstruct(): void {
    const { api, asw, timeline, nodeName } = this;
    const { volumes, failed } = reconstruct(this.paths);
    for (const { podUid, spec } of volumes) {
      asw.addReconstructed(spec, isAttachable(api, spec), podUid);
      const pod = this.sources.pods().find(({ meta }) => meta.uid === podUid);
      const mounted = asw.get(spec.uniqueName)?.pods.get(podUid);
      if (pod && mounted) mounted.podName = keyOfObject(pod.meta);
    }
    for (const { folder, reason } of failed)
      timeline.log({
        who: 'kubelet',
        node: nodeName,
        text: `Could not construct volume information from ${folder}: ${reason}`,
      });
  }

  watchStats(pod: Pod): void {
    this.background(watchVolumeStats(this, pod, this.life.signal));
  }

  private readonly watchedLimits = new Set<string>();

  private watchLimits(driver: string): void {
    if (!this.behaviour.updatesAllocatable || this.watchedLimits.has(driver)) return;
    this.watchedLimits.add(driver);
    this.background(watchAttachLimit(this, driver, this.life.signal));
  }

  async rejects(pod: Pod, missing: string): Promise<boolean> {
    return this.behaviour.updatesAllocatable && rejectOverLimit(this, pod, missing);
  }

  private isHousekeeping = false;

  /** @returns when to look again: what is left may go by a hand that says nothing */
  private housekeep(now: number): number | undefined {
    // A pod that is not known yet is no orphan.
    if (!this.sources.areReady) return undefined;
    if (this.isHousekeeping) return now;
    const { sources, paths } = this;
    const known = new Set(sources.pods().map(({ meta }) => meta.uid));
    const orphans = namesIn(paths.pods).filter((uid) => !known.has(uid));
    if (orphans.length === 0) return undefined;
    this.isHousekeeping = true;
    this.background(
      cleanUpOrphans(this, orphans.sort(), this.life.signal).finally(() => {
        this.isHousekeeping = false;
      }),
    );
    return now;
  }
}
