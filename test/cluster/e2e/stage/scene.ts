import { connectCsi } from '../../../../src/csi/client';
import type { JournalCall } from '../../../../src/journal/calls';
import { Timeline } from '../../../../src/journal/timeline';
import { systemClock } from '../../../../src/util/clock';
import {
  controlOf,
  dataFolder,
  type KubeObject,
  nodeSocket,
  openCluster,
  type RealCluster,
} from './real-cluster';

const EVERY_MS = 250;
export const PATIENCE_MS = 120_000;

/** An event as `kubectl describe` shows it. */
export interface SeenEvent {
  readonly object: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** A namespace with what one test does in it. Everything in it is gone when it ends. */
export class Scene {
  readonly cluster: RealCluster = openCluster();
  private began = Date.now();
  private readonly armed: string[] = [];
  /** Objects without a namespace, `kind/name`. */
  private readonly clusterObjects: string[] = [];

  private constructor(readonly namespace: string) {}

  static async open(name: string): Promise<Scene> {
    const scene = new Scene(`e2e-${name}`);
    await scene.cluster.mustKubectl(['create', 'namespace', scene.namespace]);
    return scene;
  }

  kubectl(...words: string[]): Promise<string> {
    return this.cluster.mustKubectl(['--namespace', this.namespace, ...words]);
  }

  /** Objects of YAML or JSON text, one or more documents. */
  async apply(text: string): Promise<void> {
    // A kubectl of 1.32 takes what begins with a brace for JSON to its end.
    const said = await this.cluster.mustKubectl(
      ['--namespace', this.namespace, 'apply', '-o', 'name', '-f', '-'],
      { input: `---\n${text}` },
    );
    for (const name of said.trim().split('\n'))
      if (/^(storageclass|persistentvolume|volumesnapshotclass|volumeattributesclass|csidriver)\b/.test(name))
        this.clusterObjects.push(name);
  }

  /** The object, or undefined when it is not there. */
  async find(kind: string, name: string): Promise<KubeObject | undefined> {
    const words = ['--namespace', this.namespace, 'get', kind, name, '-o', 'json', '--ignore-not-found'];
    const said = await this.cluster.mustKubectl(words);
    return said.trim() === '' ? undefined : (JSON.parse(said) as KubeObject);
  }

  async list(kind: string): Promise<KubeObject[]> {
    const { items } = await this.cluster.json(['--namespace', this.namespace, 'get', kind]);
    return (items ?? []) as KubeObject[];
  }

  /** @throws Error with what it waited for, the state of the pods and their events. */
  async until(what: string, holds: () => Promise<boolean>, ms = PATIENCE_MS): Promise<void> {
    const latest = Date.now() + ms;
    while (!(await holds())) {
      if (Date.now() > latest) throw new Error(`waited ${ms / 1000} s for ${what}\n${await this.describe()}`);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async running(...pods: string[]): Promise<void> {
    for (const pod of pods)
      await this.until(`pod ${pod} running`, async () => isRunning(await this.find('pod', pod)));
  }

  async gone(kind: string, name: string, ms?: number): Promise<void> {
    await this.until(`${kind} ${name} gone`, async () => (await this.find(kind, name)) === undefined, ms);
  }

  async events(object?: string): Promise<SeenEvent[]> {
    const items = await this.list('events');
    const seen = (items as unknown as RawEvent[]).map(
      ({ involvedObject, reason, message, count, series }) => ({
        object: `${involvedObject.kind}/${involvedObject.name}`,
        reason,
        message,
        count: count ?? series?.count ?? 1,
      }),
    );
    return object === undefined ? seen : seen.filter((event) => event.object === object);
  }

  /** Waits for an event whose message holds the text. */
  async event(object: string, reason: string, text: string | RegExp, ms?: number): Promise<SeenEvent> {
    let found: SeenEvent | undefined;
    const fits = (message: string) =>
      typeof text === 'string' ? message.includes(text) : text.test(message);
    await this.until(
      `event ${reason} of ${object} with ${text}`,
      async () => {
        found = (await this.events(object)).find((event) => event.reason === reason && fits(event.message));
        return found !== undefined;
      },
      ms,
    );
    return found as SeenEvent;
  }

  /** What a command prints in a pod. */
  exec(pod: string, ...words: string[]): Promise<string> {
    return this.kubectl('exec', pod, '--', ...words);
  }

  /** Lines of a pod's own mount table that end at the path. */
  async mountsIn(pod: string, at: string): Promise<string[]> {
    const table = await this.exec(pod, 'cat', '/proc/self/mountinfo');
    return table.split('\n').filter((line) => line.split(' ')[4] === at);
  }

  /** Arms a scenario with all processes of the driver. */
  async arm(text: string): Promise<void> {
    const control = await controlOf(this.cluster);
    const { names } = await control.putScenario(text, 'e2e.yaml');
    for (const name of names) {
      this.armed.push(name);
      await control.arm(name);
    }
  }

  async disarm(): Promise<void> {
    if (this.armed.length === 0) return;
    const control = await controlOf(this.cluster);
    for (const name of this.armed.splice(0)) {
      await control.release(name);
      await control.removeScenario(name);
    }
  }

  /** From now on `calls` counts. */
  mark(): void {
    this.began = Date.now();
  }

  /** What all processes of the driver were asked since the scene began, in order. */
  async calls(): Promise<JournalCall[]> {
    const timeline = new Timeline({ folder: `${dataFolder(this.cluster)}/journal`, clock: systemClock });
    return (await timeline.calls()).filter(({ atMs }) => atMs >= this.began);
  }

  /** Those about volumes of its claims, whatever else goes on in the cluster. */
  async callsOfClaims(): Promise<JournalCall[]> {
    return (await this.calls()).filter(({ pvc }) => pvc?.namespace === this.namespace);
  }

  /** State of the pods, claims and events, for messages of failures. */
  async describe(): Promise<string> {
    const pods = await this.kubectl('get', 'pods,pvc', '-o', 'wide').catch(String);
    const events = (await this.events().catch(() => [])).map(
      ({ object, reason, message, count }) => `${object} ${reason} ×${count}: ${message}`,
    );
    const calls = (await this.calls().catch(() => [])).slice(-12);
    const told = calls.map(
      ({ at, method, code, message }) => `${at} ${method} ${code ?? '…'} ${message ?? ''}`,
    );
    return [pods, ...events, ...told].join('\n');
  }

  /** Disarms, deletes the namespace and whatever belongs to no namespace, and waits until the volumes are gone. */
  async close(): Promise<void> {
    await this.disarm();
    const volumes = (await this.volumes()).map(({ metadata }) => metadata.name);
    await this.cluster.mustKubectl([
      'delete',
      'namespace',
      this.namespace,
      '--ignore-not-found',
      '--timeout=120s',
    ]);
    await this.unstageForgotten();
    await this.until('its volumes deleted', async () => {
      const left = (await this.cluster.json(['get', 'pv'])).items ?? [];
      return !left.some(
        ({ metadata, spec }) =>
          volumes.includes(metadata.name) && spec.persistentVolumeReclaimPolicy === 'Delete',
      );
    });
    if (this.clusterObjects.length > 0)
      await this.cluster.mustKubectl(['delete', '--ignore-not-found', ...new Set(this.clusterObjects)]);
  }

  /** What a kubelet has forgotten stays staged, and a volume that is staged is not deleted. */
  private async unstageForgotten(): Promise<void> {
    const volumes = await (await controlOf(this.cluster)).volumes();
    const csi = connectCsi(nodeSocket(this.cluster));
    for (const { id, pvc, stages, targets } of volumes)
      if (pvc?.namespace === this.namespace && targets.length === 0)
        for (const { path } of stages)
          await csi.NodeUnstageVolume({ volume_id: id, staging_target_path: path }).catch(() => undefined);
    csi.close();
  }

  /** PersistentVolumes whose claims are in this namespace. */
  async volumes(): Promise<KubeObject[]> {
    const { items = [] } = await this.cluster.json(['get', 'pv']);
    return items.filter(({ spec }) => spec.claimRef?.namespace === this.namespace);
  }
}

/** A test with a scene of its own, so that what one leaves is nobody else's: such tests may run at the same time. */
export const inScene = (name: string, test: (scene: Scene) => Promise<void>) => async (): Promise<void> => {
  const scene = await Scene.open(name);
  try {
    await test(scene);
  } catch (error) {
    // What failed first is told: what was in its midst may not go.
    await scene.close().catch(() => undefined);
    throw error;
  }
  await scene.close();
};

interface RawEvent {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
  readonly count?: number;
  readonly series?: { readonly count: number };
}

export function isRunning(pod: KubeObject | undefined): boolean {
  const statuses: { ready: boolean }[] = pod?.status?.containerStatuses ?? [];
  return (
    pod?.metadata.deletionTimestamp === undefined &&
    pod?.status?.phase === 'Running' &&
    statuses.length > 0 &&
    statuses.every(({ ready }) => ready)
  );
}
