import { setMaxListeners } from 'node:events';
import type { Clock } from '../util/clock';
import { ApiServer } from './api-server';
import { DEFAULT_CONFIGURATION, type KubeletConfiguration } from './configuration';
import { AttachDetachController } from './controllers/attach-detach-controller';
import { Attacher } from './controllers/attacher';
import type { ControllerEnvironment } from './controllers/controller-environment';
import { EphemeralVolumeController } from './controllers/ephemeral-volume-controller';
import { isNodeReady } from './controllers/node-health';
import { PersistentVolumeController } from './controllers/persistent-volume-controller';
import { PodGarbageCollector } from './controllers/pod-garbage-collector';
import { Provisioner } from './controllers/provisioner';
import { Resizer } from './controllers/resizer';
import { Scheduler } from './controllers/scheduler';
import { CsiCalls } from './csi/calls';
import { EventDelivery } from './event-delivery';
import { Events } from './events';
import { Kubelet } from './kubelet';
import type { MachineFor, NodeMachine } from './machine';
import { KubeletPaths } from './names';
import type { NodeObject } from './objects';
import { NodeDriverRegistrar } from './pluginmanager/node-driver-registrar';
import { PluginsFolder } from './pluginmanager/plugins-folder';
import { Seeded } from './seeded';
import { rounded } from './standing-operation';
import type { Timeline } from './timeline/timeline';
import type { KubeletVersion } from './versions';

export interface ClusterOptions {
  readonly clock: Clock;
  readonly isRealTime: boolean;
  readonly version: KubeletVersion;
  readonly seed: number;
  /** Of every node's kubelet (default: what a kubelet has without one). */
  readonly configuration?: Partial<KubeletConfiguration>;
  readonly timeline: Timeline;
  readonly machineFor: MachineFor;
  /** Where the controllers' plugin is, when it is not the one of the first node. */
  readonly controllerMachine?: NodeMachine;
  /** The kubelet's root directory on that node. */
  rootDirOf(nodeName: string): string;
}

export interface ClusterNode {
  readonly object: NodeObject;
  readonly machine: NodeMachine;
  readonly paths: KubeletPaths;
  /** Its plugins_registry. */
  readonly plugins: PluginsFolder;
  kubelet: Kubelet | undefined;
}

/** An API server, the controllers around it, and nodes with a kubelet each. */
export class Cluster {
  readonly api: ApiServer;
  readonly events: Events;
  readonly provisioner: Provisioner;
  readonly attacher: Attacher;
  readonly resizer: Resizer;
  readonly attachDetach: AttachDetachController;
  private knownPlugin: string | undefined;
  private readonly nodes = new Map<string, ClusterNode>();
  private readonly life = new AbortController();
  private readonly seeded: Seeded;
  private readonly controllers: ControllerEnvironment;

  constructor(private readonly options: ClusterOptions) {
    const { clock, timeline, seed } = options;
    // Everything that waits listens to it.
    setMaxListeners(0, this.life.signal);
    this.seeded = new Seeded(seed);
    this.api = new ApiServer(clock, this.seeded);
    const { api, seeded } = this;
    const delivery = new EventDelivery({ api, clock, timeline, seeded, signal: this.life.signal });
    this.events = new Events(timeline, delivery);
    const { events } = this;
    // Sidecars ask their plugin for its name once, whatever becomes of its registration with the kubelet.
    api.watch(() => {
      const [first] = this.nodes.values();
      this.knownPlugin ??= first?.machine.driverName ?? first?.object.csiDrivers.keys().next().value;
    });
    this.controllers = {
      api,
      clock,
      timeline,
      events,
      seeded,
      signal: this.life.signal,
      version: options.version,
      connect: () => (options.controllerMachine ?? this.firstNode().machine).connect(),
      driverName: () => this.knownPlugin,
    };
    this.provisioner = new Provisioner(this.controllers);
    this.attacher = new Attacher(this.controllers);
    this.resizer = new Resizer(this.controllers);
    this.attachDetach = new AttachDetachController(this.controllers);
  }

  /** Of the plugin that the sidecars stand beside; undefined until it has said it. */
  get pluginName(): string | undefined {
    return this.knownPlugin;
  }

  /** The controllers' plugin is the one of the first node. */
  private firstNode(): ClusterNode {
    const [first] = this.nodes.values();
    if (!first) throw new Error('expected a node: a cluster begins with one');
    return first;
  }

  startControllers(): void {
    new EphemeralVolumeController(this.controllers).start();
    new PersistentVolumeController(this.controllers).start();
    new Scheduler(this.controllers).start();
    new PodGarbageCollector(this.controllers).start();
    for (const controller of [this.provisioner, this.attacher, this.resizer, this.attachDetach])
      controller.start();
  }

  async addNode(name: string): Promise<ClusterNode> {
    const known = this.nodes.get(name);
    if (known) return known;
    const { clock, machineFor, rootDirOf } = this.options;
    const machine = await machineFor(name);
    const object: NodeObject = {
      kind: 'Node',
      meta: { name, namespace: '', uid: this.api.uid(`Node ${name}`) },
      ready: true,
      outOfService: false,
      volumesInUse: [],
      volumesAttached: [],
      labels: new Map(),
      allocatable: new Map(),
      topologyKeys: new Map(),
      csiDrivers: new Map(),
      lastHeartbeat: clock.now(),
    };
    const node: ClusterNode = {
      object,
      machine,
      paths: new KubeletPaths(rootDirOf(name)),
      plugins: machine.plugins ?? new PluginsFolder(),
      kubelet: undefined,
    };
    this.nodes.set(name, node);
    this.api.nodes.add(object);
    if (!machine.plugins) this.startRegistrar(node);
    this.startKubelet(node);
    return node;
  }

  /** Beside a plugin that does not register itself. */
  private startRegistrar({ machine, object, plugins, paths }: ClusterNode): void {
    const { clock, timeline } = this.options;
    const { signal } = this.life;
    const nodeName = object.meta.name;
    const connect = () => machine.connect();
    const who = 'node-driver-registrar';
    const calls = new CsiCalls({ clock, timeline, who, node: nodeName, signal, connect });
    const rootDir = paths.root;
    void new NodeDriverRegistrar({ clock, timeline, nodeName, rootDir, folder: plugins, calls, signal })
      .run()
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }

  node(name: string): ClusterNode | undefined {
    return this.nodes.get(name);
  }

  allNodes(): ClusterNode[] {
    return [...this.nodes.values()];
  }

  startKubelet(node: ClusterNode): void {
    if (node.kubelet) return;
    const { clock, isRealTime, version, timeline } = this.options;
    const { api, events, seeded } = this;
    const { machine, paths, object, plugins } = node;
    const { name } = object.meta;
    timeline.add({ who: 'kubelet', node: name, kind: 'object', text: `kubelet ${version} started` });
    node.kubelet = new Kubelet({
      nodeName: name,
      version,
      api,
      clock,
      isRealTime,
      timeline,
      events,
      seeded,
      paths,
      mounts: machine.mounts,
      configuration: { ...DEFAULT_CONFIGURATION, ...this.options.configuration },
      plugins,
      connect: (endpoint) => machine.connect(endpoint),
    });
  }

  stopKubelet(node: ClusterNode): void {
    const { kubelet, object } = node;
    if (!kubelet) return;
    kubelet.stop();
    node.kubelet = undefined;
    this.events.lose({ who: 'kubelet', node: object.meta.name });
    this.options.timeline.add({
      who: 'kubelet',
      node: object.meta.name,
      kind: 'object',
      text: 'kubelet stopped',
    });
    this.api.changed();
  }

  stopApi(): void {
    const { api } = this;
    if (api.isDown) return;
    const text = 'API server down: objects stay as they are, and nobody can read or write one';
    this.options.timeline.add({ who: 'kube-apiserver', kind: 'object', text });
    api.stop();
  }

  startApi(): void {
    const { api } = this;
    const { downSince } = api;
    if (downSince === undefined) return;
    const now = api.clock.now();
    // Nobody could hear a node meanwhile, and nobody made one not ready: each is given its grace period once more.
    for (const node of api.nodes.all()) if (isNodeReady(node, downSince)) node.lastHeartbeat = now;
    const text = `API server up, after ${rounded(now - downSince)}`;
    this.options.timeline.add({ who: 'kube-apiserver', kind: 'object', text });
    api.start();
  }

  /** Everything ends. */
  stop(): void {
    for (const node of this.nodes.values()) node.kubelet?.stop();
    this.life.abort(new Error('the rehearsal has ended'));
  }
}
