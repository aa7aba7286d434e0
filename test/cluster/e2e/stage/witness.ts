import { withoutNames } from '../../../support/golden/seen';
import type { Witness } from './golden-play';
import { kubeletLog } from './observe';
import { stagedIn } from './other-mount';
import type { RealCluster } from './real-cluster';
import type { Scene } from './scene';

/** What is told of: by whom a volume is brought to a pod and back. The rest comes by a timer. */
const TOLD = /^(Node|Controller)(Un)?(stage|publish)Volume$/i;

/** Of a kubelet that hears of its pods before it has registered the driver again: which of the two comes first is chance. */
const NOT_YET_REGISTERED = /driver name \S+ not found in the list of registered CSI drivers$/;

function mountsOf(cluster: RealCluster): string {
  const published = cluster.mountinfo().some((line) => / \S+\/volumes\/kubernetes\.io~csi\/\S+ /.test(line));
  const found = [...(stagedIn(cluster).length > 0 ? ['stage'] : []), ...(published ? ['target'] : [])];
  return found.length === 0 ? 'nothing is mounted' : `mounted: ${found.join(', ')}`;
}

/** Each different one once: how often it is tried depends on the moment. */
function errorsIn(lines: readonly string[], { namespace }: Scene): string[] {
  const said = lines
    .flatMap((line) => / Error: (.*)$/.exec(line)?.[1] ?? [])
    .filter((text) => !NOT_YET_REGISTERED.test(text));
  return [...new Set(said.map((text) => `kubelet log: ${withoutNames(text, namespace)}`))].sort();
}

/** Tells of each act of a case what followed until the next one: calls, what is mounted, what the kubelet logs of the volumes. */
export class ActWitness implements Witness {
  private readonly told: string[] = [];
  private act: string | undefined;
  private calls = 0;
  private log: () => string[] = () => [];
  private logged = 0;

  constructor(private readonly scene: Scene) {}

  async before({ text }: { readonly text: string }): Promise<void> {
    await this.tell();
    // Asked for while there is an API server.
    if (this.act === 'create') this.log = await kubeletLog(this.scene);
    this.act = text;
  }

  async atEnd(): Promise<void> {
    await this.tell();
    const events = (await this.scene.events()).filter(
      ({ reason, message }) => /^Failed(Mount|Attach)/.test(reason) && !NOT_YET_REGISTERED.test(message),
    );
    const lines = events.map(
      ({ object, reason, message }) => `${object} ${reason}: ${withoutNames(message, this.scene.namespace)}`,
    );
    this.told.push(...new Set(lines.sort()));
  }

  get lines(): readonly string[] {
    return this.told;
  }

  private async tell(): Promise<void> {
    const { scene } = this;
    const calls = (await scene.calls()).slice(this.calls);
    this.calls += calls.length;
    const log = this.log().slice(this.logged);
    this.logged += log.length;
    if (this.act === undefined || this.act === 'create') return;
    const asked = calls
      .filter(({ method }) => TOLD.test(method))
      .map(({ method, code }) => `${method} ${code}`);
    const said = asked.length === 0 ? 'no call' : [...new Set(asked)].join(', ');
    this.told.push(`${this.act}: ${said}; ${mountsOf(scene.cluster)}`, ...errorsIn(log, scene));
  }
}
