import type { Method } from '../../csi/rpcs';
import type { EventEntry } from '../../journal/entry';
import { matchesRule } from '../../journal/query';
import { markName } from '../../journal/timeline';
import type { Change, Evaluator, Moment, Outcome, Start } from './evaluator';
import type { SeenCall } from './select';

/** Calls whose first OK is an event. */
const LIFECYCLE: Readonly<Record<string, Method>> = {
  created: 'CreateVolume',
  attached: 'ControllerPublishVolume',
  staged: 'NodeStageVolume',
  published: 'NodePublishVolume',
  unpublished: 'NodeUnpublishVolume',
  unstaged: 'NodeUnstageVolume',
  detached: 'ControllerUnpublishVolume',
  expanded: 'ControllerExpandVolume',
};

/** What happens in the cluster is told to no driver. */
const CLUSTER_EVENT = /^(pod|pvc|pv|node|claim|event)[A-Z]/;

/** Lets an expectation count only from its `since` on: the last mark or event of that name, or the first such call. */
export class Since implements Evaluator {
  private inner: { evaluator: Evaluator; start: Start } | undefined;

  constructor(
    private readonly since: string,
    private readonly make: (start: Start) => Evaluator,
  ) {}

  event(entry: EventEntry, order: number, atMs: number): void {
    if (this.isEvent(entry)) this.begin({ ms: atMs, order });
    else this.inner?.evaluator.event?.(entry, order, atMs);
  }

  call(seen: SeenCall, change: Change, atMs: number): void {
    if (this.inner) {
      const { evaluator, start } = this.inner;
      if (seen.order >= start.order) evaluator.call?.(seen, change, atMs);
    } else if (change === 'answered' && this.isCall(seen)) {
      this.begin({ ms: atMs, order: seen.endOrder ?? seen.order });
    }
  }

  outcome(moment: Moment): Outcome {
    if (this.inner) return this.inner.evaluator.outcome(moment);
    if (CLUSTER_EVENT.test(this.since))
      return {
        status: 'unavailable',
        summary: `"${this.since}" happens in the cluster and is not known to the driver; set a mark instead (since: mark:NAME)`,
      };
    const summary = `nothing counts before "${this.since}", and the journal does not have it`;
    return { status: moment.final ? 'failed' : 'pending', summary };
  }

  private begin(start: Start): void {
    this.inner = { evaluator: this.make(start), start };
  }

  private isEvent({ event, details }: EventEntry): boolean {
    if (this.since === 'mark') return event === 'mark';
    if (this.since.startsWith('mark:')) return event === 'mark' && markName(details) === this.since.slice(5);
    return event === this.since;
  }

  private isCall({ call }: SeenCall): boolean {
    if (this.since.startsWith('fired:'))
      return call.fired.some((rule) => matchesRule(this.since.slice('fired:'.length), rule));
    return call.code === 'OK' && LIFECYCLE[this.since] === call.method;
  }
}
