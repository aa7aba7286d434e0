import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Condition } from '../../../../src/kubelet/steps/grammar';
import type { PlayedCase, PlayedStep } from '../../../support/golden/cases';
import { type GoldenStep, isAct } from '../../../support/golden/journal';
import { OtherMount } from './other-mount';
import { controlOf, reboot } from './real-cluster';
import { isRunning, PATIENCE_MS, type Scene } from './scene';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Plays the steps of a rehearsal on the real cluster, with kubectl and signals. */
export class Player {
  private readonly manifests: readonly Manifest[];
  private readonly otherMount: OtherMount;
  /** What was done, and when. */
  readonly done: GoldenStep[] = [];

  constructor(
    private readonly scene: Scene,
    { manifests }: Pick<PlayedCase, 'manifests'>,
    /** Told of each act before it is done. */
    private readonly before: (act: PlayedStep) => Promise<void> = async () => undefined,
  ) {
    this.manifests = manifests.split('\n---\n').map((text) => JSON.parse(text) as Manifest);
    this.otherMount = new OtherMount(scene.cluster);
  }

  /** @throws Error with the step that did not come true, and where everything stands. */
  async play(steps: readonly PlayedStep[]): Promise<void> {
    for (const step of steps) {
      try {
        if (isAct(step)) {
          await this.before(step);
          this.done.push({ step: step.text, atMs: Date.now() });
        }
        await this.take(step);
      } catch (error) {
        throw new Error(`step "${step.text}": ${(error as Error).message}`, { cause: error });
      }
    }
  }

  /** Undoes what the steps left: the next case needs all of the cluster. */
  async restore(): Promise<void> {
    const { cluster } = this.scene;
    await this.otherMount.remove();
    for (const component of ['kube-apiserver', 'kubelet']) {
      if (cluster.pidOf(component) !== null) continue;
      cluster.start(component);
      await cluster.ready(component);
    }
  }

  private async take(step: PlayedStep): Promise<void> {
    const { scene } = this;
    switch (step.kind) {
      case 'create':
        return this.create(step.names);
      case 'delete':
        return this.remove(step.names, []);
      case 'force-delete':
        return this.remove(step.names, ['--force', '--grace-period=0']);
      case 'expand': {
        const patch = { spec: { resources: { requests: { storage: `${step.bytes}` } } } };
        await scene.kubectl('patch', 'pvc', step.claim, '--patch', JSON.stringify(patch));
        return;
      }
      case 'wait':
        return scene.until(step.text, () => this.holds(step.condition), step.withinMs ?? PATIENCE_MS);
      case 'assert':
        if (!(await this.holds(step.condition))) throw new Error(`it is not so\n${await scene.describe()}`);
        return;
      case 'advance':
        return new Promise((resolve) => setTimeout(resolve, step.ms));
      case 'kubelet':
        return this.component('kubelet', step.act);
      case 'api':
        return this.component('kube-apiserver', step.act);
      case 'other-bind':
        return this.otherMount[step.act]();
      case 'driver':
        if (step.act !== 'restart')
          throw new Error('on a cluster a driver that was killed comes back by itself: restart');
        return this.restartDriver();
      case 'node':
        if (step.act !== 'reboot') throw new Error('a cluster of one node can only reboot it');
        await reboot(scene.cluster);
        return this.driverReady();
      case 'vol-data':
        return this.damage(step.pod, step.act);
      default:
        throw new Error('cannot be done on a real cluster');
    }
  }

  private async create(names: readonly string[]): Promise<void> {
    const chosen = this.manifests.filter(
      ({ metadata }) => names.length === 0 || names.includes(metadata.name),
    );
    await this.scene.apply(chosen.map((object) => JSON.stringify(object)).join('\n---\n'));
  }

  private pods(names: readonly string[]): string[] {
    if (names.length > 0) return [...names];
    return this.manifests.filter(({ kind }) => kind === 'Pod').map(({ metadata }) => metadata.name);
  }

  private async remove(names: readonly string[], how: readonly string[]): Promise<void> {
    for (const name of this.pods(names)) {
      const [kind, object] = name.startsWith('pvc/') ? ['pvc', name.slice(4)] : ['pod', name];
      await this.scene.kubectl(
        'delete',
        kind ?? '',
        object ?? '',
        '--wait=false',
        '--ignore-not-found',
        ...how,
      );
    }
  }

  private async component(name: string, act: 'stop' | 'start' | 'restart'): Promise<void> {
    const { cluster } = this.scene;
    if (act !== 'start') await cluster.stop(name, 'SIGKILL');
    if (act === 'stop') return;
    cluster.start(name);
    await cluster.ready(name);
  }

  private async restartDriver(): Promise<void> {
    for (const pid of this.scene.cluster.processes(/fake-csi serve/)) process.kill(pid, 'SIGKILL');
    await this.driverReady();
  }

  /** All pods of the driver, and its control socket. */
  private async driverReady(): Promise<void> {
    const { scene } = this;
    await scene.until('the driver ready', async () => {
      const { items = [] } = await scene.cluster.json([
        '-n',
        'kube-system',
        'get',
        'pods',
        '-l',
        'app=fake-csi',
      ]);
      if (!items.every(isRunning)) return false;
      return controlOf(scene.cluster).then(
        () => true,
        () => false,
      );
    });
  }

  private async holds(condition: Condition): Promise<boolean> {
    const { scene } = this;
    switch (condition.kind) {
      case 'not':
        return !(await this.holds(condition.condition));
      case 'running':
        for (const pod of this.pods(condition.pods))
          if (!isRunning(await scene.find('pod', pod))) return false;
        return true;
      case 'gone':
        for (const pod of this.pods(condition.pods)) if (await scene.find('pod', pod)) return false;
        return true;
      case 'clean': {
        const volumes = (await scene.volumes()).map(({ metadata }) => metadata.name);
        const attachments = (await scene.cluster.json(['get', 'volumeattachments'])).items ?? [];
        const attached = attachments.some(({ spec }) => volumes.includes(spec.source.persistentVolumeName));
        const mounted = scene.cluster
          .mountinfo()
          .some((line) => line.includes('/kubernetes.io/csi/fake.csi.test/'));
        return !attached && !mounted && (await scene.list('pods')).length === 0;
      }
      case 'event': {
        const { reason, object } = condition;
        return (await scene.events()).some(
          (event) =>
            event.reason === reason && (object === undefined || event.object.split('/').includes(object)),
        );
      }
      case 'calls': {
        const { method, code, comparison, count } = condition;
        const found = (await scene.calls()).filter(
          (call) =>
            call.method === method && call.code !== undefined && (code === undefined || call.code === code),
        ).length;
        return comparison === '=' ? found === count : comparison === '>=' ? found >= count : found <= count;
      }
      case 'state':
        return this.isState(condition.subject, condition.state);
    }
  }

  private async isState(claim: string, state: string): Promise<boolean> {
    const { scene } = this;
    const found = await scene.find('pvc', claim);
    const volume: string | undefined = found?.spec.volumeName;
    const attachments = (await scene.cluster.json(['get', 'volumeattachments'])).items ?? [];
    const attachment = attachments.find(({ spec }) => spec.source.persistentVolumeName === volume);
    switch (state) {
      case 'bound':
        return found?.status?.phase === 'Bound';
      case 'deleted':
        return found === undefined;
      case 'attached':
        return attachment?.status?.attached === true;
      case 'detached':
        return attachment === undefined;
      default:
        throw new Error(`only a kubelet knows whether a volume is ${state}: wait for calls instead`);
    }
  }

  private async damage(pod: string, act: 'remove' | 'empty' | 'corrupt'): Promise<void> {
    const uid = (await this.scene.find('pod', pod))?.metadata.uid ?? '';
    const folder = path.join(this.scene.cluster.layout.kubelet, 'pods', uid, 'volumes/kubernetes.io~csi');
    for (const volume of fs.readdirSync(folder)) {
      const file = path.join(folder, volume, 'vol_data.json');
      if (act === 'remove') fs.rmSync(file);
      else fs.writeFileSync(file, act === 'empty' ? '' : '{"driverName": "fake.csi');
    }
  }
}
