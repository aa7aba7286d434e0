import type { InProcessRehearsal } from '../embedded/in-process-rehearsal';
import type { OpenedRehearsal } from '../embedded/opened-rehearsal';
import type { ClusterEvent } from '../kubelet/events';
import type { Standing } from '../kubelet/standing';
import { parseSteps, type Step } from '../kubelet/steps/grammar';
import type { CallEntry } from '../kubelet/timeline/timeline';
import { assertionError } from './assertion';
import { type Duration, milliseconds } from './duration';
import type { KubeletCondition } from './kubelet-steps';
import { readRule } from './scenario-source';
import type { RuleSpec } from './scenario-types';

export type KubeletCall = Readonly<CallEntry>;
export type KubeletEvent = Readonly<ClusterEvent>;

export interface KubeletCallFilter {
  readonly method?: string;
  /** `OK`, `INTERNAL`, …; of calls that have ended. */
  readonly code?: string;
  /** `kubelet`, `external-attacher`, … */
  readonly who?: string;
}

export interface KubeletEventFilter {
  readonly reason?: string;
  /** `Pod default/web`, or a part of it: `web`. */
  readonly object?: string;
}

/**
 * A kubelet with the controllers around it, playing manifests against a driver (docs/rehearsal.md). Steps are played one
 * after another; one that does not come true is an AssertionError that says where everything stands.
 */
export class TestKubelet implements AsyncDisposable {
  readonly #opened: OpenedRehearsal;
  readonly #arm: InProcessRehearsal['arm'] | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #rules = 0;

  /** @internal See startKubelet. */
  constructor(opened: OpenedRehearsal, arm: InProcessRehearsal['arm'] | undefined) {
    this.#opened = opened;
    this.#arm = arm;
  }

  /** The root directory of the first node's kubelet; `/var/lib/kubelet` in what it tells. */
  get rootDir(): string {
    return this.#opened.rootDir;
  }

  /** Milliseconds since the kubelet started, of its own time. */
  get elapsed(): number {
    return this.#opened.timeline.elapsed;
  }

  /** Steps as text, as after `fake-csi rehearse --steps`. @throws AssertionError; Error for what is no step */
  async run(steps: string): Promise<void> {
    for (const step of parseSteps(steps)) await this.#step(step);
  }

  /** Objects of the manifests; without names all that are not there. */
  create(...names: string[]): Promise<void> {
    return this.#named('create', names);
  }

  /** Pods, or claims as `pvc/data`; without names every pod. */
  delete(...names: string[]): Promise<void> {
    return this.#named('delete', names);
  }

  /** The pods' objects go at once, whatever their node does. */
  forceDelete(...pods: string[]): Promise<void> {
    return this.#named('force-delete', pods);
  }

  /** Raises a claim's request, to a size such as `2Gi`. */
  async expand(claim: string, size: string): Promise<void> {
    return this.run(`expand ${word(claim)} ${word(size)}`);
  }

  /** Lets time pass until it is so: 15 minutes of virtual time or 5 of real time, if nothing else is said. */
  async wait(condition: KubeletCondition, { within }: { within?: Duration } = {}): Promise<void> {
    const limit = within === undefined ? '' : ` within ${Math.round(milliseconds(within, 'within'))}ms`;
    return this.run(`wait ${condition}${limit}`);
  }

  /** Now. */
  async assert(condition: KubeletCondition): Promise<void> {
    return this.run(`assert ${condition}`);
  }

  async advance(duration: Duration): Promise<void> {
    return this.run(`advance ${Math.round(milliseconds(duration, 'advance'))}ms`);
  }

  /** The kubelet's process; containers go on without it. */
  kubelet(act: 'stop' | 'start' | 'restart', node?: string): Promise<void> {
    return this.#named(`kubelet ${act}`, node === undefined ? [] : [node]);
  }

  /** The driver's process. Not one that is reached over a socket. */
  driver(act: 'kill' | 'start' | 'restart', node?: string): Promise<void> {
    return this.#named(`driver ${act}`, node === undefined ? [] : [node]);
  }

  /** The machine: its processes and mounts end, its files stay. Not with a driver that is reached over a socket. */
  node(act: 'reboot' | 'down' | 'up', node?: string): Promise<void> {
    return this.#named(`node ${act}`, node === undefined ? [] : [node]);
  }

  /** The driver's registration socket goes, or comes back. */
  plugin(act: 'unregister' | 'register', node?: string): Promise<void> {
    return this.#named(`plugin ${act}`, node === undefined ? [] : [node]);
  }

  /** The API server's process. While it is down, steps that write objects are refused. */
  api(act: 'stop' | 'start'): Promise<void> {
    return this.#named(`api ${act}`, []);
  }

  taint(taint: 'out-of-service' | 'none', node?: string): Promise<void> {
    return this.#named(`taint ${taint}`, node === undefined ? [] : [node]);
  }

  /** Damages vol_data.json of a pod's volumes. */
  volData(act: 'remove' | 'empty' | 'corrupt', pod: string): Promise<void> {
    return this.#named(`vol-data ${act}`, [pod]);
  }

  /**
   * Arms a rule with the driver, for its next calls. Of a driver that is reached over a socket rules are armed where it was
   * started. @throws SpecError, ScenarioProblems
   */
  async rule(rule: RuleSpec | string): Promise<void> {
    const arm = this.#arm;
    if (!arm)
      throw new Error(
        'rule(): the driver is reached over its socket: arm the rule where the driver was started',
      );
    this.#rules += 1;
    const { name, text } = readRule(rule, `test-rule-${this.#rules}`);
    await this.#inTurn(() => arm(name, text));
  }

  /** Every call that was made, of the kubelet and of the controllers; those that run have no code yet. */
  calls(filter: KubeletCallFilter | string = {}): KubeletCall[] {
    const { method, code, who } = typeof filter === 'string' ? { method: filter } : { ...filter };
    return this.#opened.timeline.calls.filter(
      (call) =>
        (method === undefined || call.method === method) &&
        (code === undefined || call.code === code) &&
        (who === undefined || call.who === who),
    );
  }

  /** What `kubectl describe` would print, in the order in which it was first said. */
  events({ reason, object }: KubeletEventFilter = {}): KubeletEvent[] {
    return this.#opened.rehearsal.cluster.events
      .all()
      .filter(
        (event) =>
          (reason === undefined || event.reason === reason) &&
          (object === undefined || event.object === object || event.object.split(/[ /]/).includes(object)),
      );
  }

  /** Where each pod and volume stands, and why. */
  standing(): readonly Standing[] {
    return this.#opened.rehearsal.where();
  }

  /** The whole timeline, as the command line prints it. */
  timeline(): string {
    const { timelineText } =
      require('../kubelet/timeline/formats') as typeof import('../kubelet/timeline/formats');
    return timelineText(this.#opened.timeline.entries);
  }

  /** Ends everything, and removes what was temporary. */
  stop(): Promise<void> {
    this.#stopping ??= this.#opened.close();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #named(step: string, names: readonly string[]): Promise<void> {
    return this.run([step, ...names.map(word)].join(' '));
  }

  /** Time passes for everybody: two steps at once would be one step with another's limit. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopping)
      throw new Error('the kubelet has been stopped: start another one with startKubelet()');
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #step(step: Step): Promise<void> {
    const failure = await this.#inTurn(() => this.#opened.rehearsal.step(step));
    if (failure === undefined) return;
    const where = this.standing().flatMap(({ what, state, why }) => [
      `  ${what}: ${state}`,
      ...why.map((line) => `    ${line}`),
    ]);
    throw assertionError([failure, ...where]);
  }
}

/** A name is one word of a step. @throws TypeError */
function word(name: string): string {
  if (/^[^\s;#]+$/.test(name)) return name;
  throw new TypeError(`expected a name without spaces, found ${JSON.stringify(name)}`);
}
