import { Cluster, type ClusterNode } from './cluster';
import type { KubeletConfiguration } from './configuration';
import type { MachineFor, MachinePower, NodeMachine } from './machine';
import { buildObjects } from './manifests/build';
import type { Manifest } from './manifests/read';
import type { ManifestObject } from './objects';
import { type Standing, Standings } from './standing';
import { Conditions } from './steps/conditions';
import type { Step } from './steps/grammar';
import { ObjectSteps } from './steps/object-steps';
import type { TimeKeeper } from './time-keeper';
import type { Timeline } from './timeline/timeline';
import type { KubeletVersion } from './versions';

export interface RehearsalOptions {
  readonly time: TimeKeeper;
  readonly timeline: Timeline;
  readonly version: KubeletVersion;
  readonly seed: number;
  readonly configuration?: Partial<KubeletConfiguration>;
  readonly manifests: readonly Manifest[];
  readonly machineFor: MachineFor;
  /** Where the controllers' plugin is, when it is not the one of the first node. */
  readonly controllerMachine?: NodeMachine;
  rootDirOf(nodeName: string): string;
}

export interface Outcome {
  readonly passed: boolean;
  /** The step that did not come true, and what it waited for. */
  readonly failure: string | undefined;
  readonly standings: readonly Standing[];
}

export const FIRST_NODE = 'node-1';
/** A wait that says nothing else: time enough for nine failures of the kubelet's backoff, and for a forced detach. */
const PATIENCE_MS = { virtual: 15 * 60_000, real: 5 * 60_000 };
/** From a node's end to its kubelet's next start. Shorter than what makes a node not ready. */
const BOOT_MS = 30_000;
/** The plugin is registered before anything else happens; a driver that refuses is waited for no longer. */
const REGISTRATION_PATIENCE_MS = 3_000;
/** Two looks of the kubelet at its plugins. */
const PLUGIN_NOTICED_MS = 2_000;

/** Steps of users of the API. */
const WRITES: ReadonlySet<Step['kind']> = new Set(['create', 'delete', 'force-delete', 'expand', 'taint']);

/** Manifests, a driver and steps: what happens, and where things stand at the end. */
export class Rehearsal {
  readonly cluster: Cluster;
  readonly conditions: Conditions;
  private readonly standings: Standings;
  private readonly objects: readonly ManifestObject[];
  private readonly objectSteps: ObjectSteps;

  /** @throws ManifestProblems */
  constructor(private readonly options: RehearsalOptions) {
    const { time, version, seed, timeline, machineFor, rootDirOf, manifests, controllerMachine } = options;
    const { clock, isReal } = time;
    this.cluster = new Cluster({
      clock,
      isRealTime: isReal,
      version,
      seed,
      timeline,
      machineFor,
      rootDirOf,
      ...(controllerMachine && { controllerMachine }),
      ...(options.configuration && { configuration: options.configuration }),
    });
    this.conditions = new Conditions(this.cluster, timeline);
    this.standings = new Standings(this.cluster, timeline);
    this.objects = buildObjects(manifests, this.cluster.api, (text) =>
      timeline.add({ who: 'rehearsal', kind: 'note', text }),
    );
    this.objectSteps = new ObjectSteps(this.cluster, timeline, this.objects, this.conditions.created);
  }

  /** Plays the steps one after another; ends at the first that does not come true. */
  async run(steps: readonly Step[]): Promise<Outcome> {
    const { time } = this.options;
    await this.begin();
    let failure: string | undefined;
    for (const step of steps) {
      failure = await this.step(step);
      if (failure !== undefined) break;
    }
    await time.runUntil(() => true, 0);
    return { passed: failure === undefined, failure, standings: this.standings.all() };
  }

  /** Plays one step, after `begin`. @returns why it did not come true */
  async step(step: Step): Promise<string | undefined> {
    const { timeline } = this.options;
    timeline.add({ who: 'rehearsal', kind: 'step', text: step.text });
    const failure = await this.play(step);
    if (failure !== undefined) timeline.add({ who: 'rehearsal', kind: 'note', text: failure });
    return failure;
  }

  stop(): void {
    this.cluster.stop();
  }

  /** Where everything stands now. */
  where(): Standing[] {
    return this.standings.all();
  }

  /** Starts nodes and controllers, and waits until the driver is registered. */
  async begin(): Promise<void> {
    const { time } = this.options;
    await this.cluster.addNode(FIRST_NODE);
    for (const object of this.objects)
      if (object.kind === 'Pod' && object.nodeName !== undefined) await this.cluster.addNode(object.nodeName);
    this.cluster.startControllers();
    const registered = () => this.cluster.allNodes().every(({ object }) => object.csiDrivers.size > 0);
    await time.runUntil(registered, REGISTRATION_PATIENCE_MS);
  }

  /** @returns why it did not come true */
  private async play(step: Step): Promise<string | undefined> {
    const { time, timeline } = this.options;
    if (WRITES.has(step.kind) && this.cluster.api.isDown)
      return `"${step.text}" writes to the API server, which is down since ${this.downSince()}: \`api start\` first`;
    switch (step.kind) {
      case 'create':
        return this.objectSteps.create(step.names);
      case 'delete':
        return this.objectSteps.delete(step.names);
      case 'force-delete':
        return this.objectSteps.delete(step.names, true);
      case 'expand':
        return this.objectSteps.expand(step.claim, step.bytes);
      case 'wait': {
        const { condition } = step;
        const limitMs = step.withinMs ?? PATIENCE_MS[time.isReal ? 'real' : 'virtual'];
        const cameTrue = await time.runUntil(() => {
          this.conditions.remember();
          return this.conditions.holds(condition);
        }, limitMs);
        return cameTrue
          ? undefined
          : `"${step.text}" did not come true within ${limitMs / 1_000} s${this.whileDown()}`;
      }
      case 'assert':
        await time.runUntil(() => true, 0);
        this.conditions.remember();
        return this.conditions.holds(step.condition)
          ? undefined
          : `"${step.text}" is not so${this.whileDown()}`;
      case 'advance':
        await time.runUntil(() => false, step.ms);
        return undefined;
      case 'api':
        if (step.act === 'stop') this.cluster.stopApi();
        else this.cluster.startApi();
        await time.runUntil(() => true, 0);
        return undefined;
      case 'taint':
        return this.onNode(step.node, async ({ object }) => {
          object.outOfService = step.outOfService;
          timeline.add({
            who: 'rehearsal',
            kind: 'object',
            text: `node ${object.meta.name}: taint node.kubernetes.io/out-of-service ${step.outOfService ? 'set' : 'removed'}`,
          });
          this.cluster.api.changed();
        });
      case 'plugin':
        return this.onNode(step.node, async ({ plugins, kubelet, object }) => {
          if (step.act === 'register') return plugins.offer();
          plugins.withdraw();
          const noticed = () => object.csiDrivers.size === 0;
          if (kubelet) await time.runUntil(noticed, PLUGIN_NOTICED_MS);
        });
      case 'kubelet':
        return this.onNode(step.node, async (node) => {
          if (step.act !== 'start') this.cluster.stopKubelet(node);
          if (step.act !== 'stop') this.cluster.startKubelet(node);
        });
      case 'driver':
        return this.withPower(step.node, step.text, async (power, node) => {
          if (step.act === 'restart') await power.restartDriver();
          else if (step.act === 'kill') await power.killDriver();
          else await power.startDriver();
          const done = { restart: 'ended and started again', kill: 'killed', start: 'started' }[step.act];
          timeline.add({
            who: 'driver',
            node: node.object.meta.name,
            kind: 'object',
            text: `driver ${done}`,
          });
        });
      case 'node':
        return this.withPower(step.node, step.text, (power, node) => this.power(step.act, power, node));
      case 'vol-data':
        return this.objectSteps.damage(step.act, step.pod);
    }
  }

  private downSince(): string {
    const { api } = this.cluster;
    return `+${(this.options.timeline.since(api.downSince ?? api.clock.now()) / 1_000).toFixed(1)}s`;
  }

  /** What explains most of what does not come true. */
  private whileDown(): string {
    if (!this.cluster.api.isDown) return '';
    return `: the API server is down since ${this.downSince()}, and nobody reads or writes an object before \`api start\``;
  }

  private async power(act: 'reboot' | 'down' | 'up', power: MachinePower, node: ClusterNode): Promise<void> {
    const { time, timeline } = this.options;
    const say = (text: string) =>
      timeline.add({ who: 'rehearsal', kind: 'object', text: `node ${node.object.meta.name}: ${text}` });
    if (act !== 'up') {
      this.cluster.stopKubelet(node);
      await power.cut();
      for (const pod of this.cluster.api.pods.all()) {
        if (pod.nodeName !== node.object.meta.name) continue;
        pod.containersRunning = false;
        if (pod.phase === 'Running') pod.phase = 'Pending';
      }
      this.cluster.api.changed();
      say('down: processes and mounts are gone, files are not');
    }
    if (act === 'down') return;
    if (act === 'reboot') await time.runUntil(() => false, BOOT_MS);
    await power.boot();
    say('up');
    this.cluster.startKubelet(node);
  }

  private async onNode(
    name: string | undefined,
    work: (node: ClusterNode) => Promise<void>,
  ): Promise<string | undefined> {
    const node = this.cluster.node(name ?? FIRST_NODE);
    if (!node) {
      const known = this.cluster.allNodes().map(({ object }) => object.meta.name);
      return `expected a node of ${known.join(', ')}; found ${name ?? FIRST_NODE}`;
    }
    await work(node);
    await this.options.time.runUntil(() => true, 0);
    return undefined;
  }

  private withPower(
    name: string | undefined,
    text: string,
    work: (power: MachinePower, node: ClusterNode) => Promise<void>,
  ): Promise<string | undefined> {
    let refused: string | undefined;
    return this.onNode(name, async (node) => {
      const { power } = node.machine;
      if (power) await work(power, node);
      else
        refused = `"${text}" is not possible with --endpoint: the driver behind the socket is not ours to stop or start; do it yourself while the rehearsal waits`;
    }).then((failure) => failure ?? refused);
  }
}
