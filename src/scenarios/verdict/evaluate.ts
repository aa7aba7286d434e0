import { CallJoiner, type JournalCall } from '../../journal/calls';
import type { TimelineEntry } from '../../journal/merge';
import type { Moment as JournalMoment } from '../../journal/query';
import { markName } from '../../journal/timeline';
import { VolumeIndex } from '../../journal/volume-index';
import type { Expectation } from '../model';
import { ArmedRules, endsArming, scenarioOf } from './armed-rules';
import type { Context, Evaluator, Moment, Start, Status } from './evaluator';
import { makeEvaluator } from './make';
import type { SeenCall } from './select';
import { deletedVolume, VolumeStates } from './volume-states';

export interface ExpectationResult {
  readonly expectation: Expectation;
  readonly status: Status;
  readonly summary: string;
  readonly evidence: readonly JournalCall[];
  readonly nearMiss?: string;
}

export interface EvaluationOptions {
  /** Counts from its last arming, when the journal has one and `since` does not say otherwise. */
  readonly scenario?: string | undefined;
  /** What came before does not count. Default: the scenario's arming, or the first entry. */
  readonly since?: JournalMoment | undefined;
}

/** Expectations over a timeline that may still go on: entries are added as they come, results asked for at any time. */
export class Evaluation {
  private readonly joiner = new CallJoiner();
  private readonly context: Context = {
    volumes: new VolumeIndex(),
    states: new VolumeStates(),
    rules: new ArmedRules(),
  };
  private readonly seen = new Map<JournalCall, SeenCall>();
  private readonly disarmed = new Set<string>();
  /** The arming that everything counts from. */
  private arming: number | undefined;
  private order = 0;
  private started: { start: Start; evaluators: readonly Evaluator[] } | undefined;

  constructor(
    private readonly expectations: readonly Expectation[],
    private readonly options: EvaluationOptions = {},
  ) {}

  /** Entries in the order of the timeline. */
  add(entry: TimelineEntry): void {
    this.order += 1;
    const atMs = Date.parse(entry.at);
    if (this.beginsAt(entry, atMs)) this.begin(atMs, this.order);
    if (entry.type === 'event') {
      this.context.rules.event(entry);
      const deleted = deletedVolume(entry);
      if (deleted !== undefined) this.context.states.deleted(deleted);
      for (const evaluator of this.started?.evaluators ?? []) evaluator.event?.(entry, this.order, atMs);
    }
    for (const { call, change } of this.joiner.add(entry)) {
      if (change === 'answered') {
        this.context.volumes.add(call);
        this.context.states.answered(call);
        if (this.started) this.context.rules.answered(call);
      }
      this.show(this.place(call, change === 'received'), change, atMs);
    }
  }

  results(moment: Moment): ExpectationResult[] {
    if (!this.started) this.begin(moment.nowMs, this.order + 1);
    const evaluators = this.started?.evaluators ?? [];
    return this.expectations.map((expectation, i) => {
      const outcome = evaluators[i]?.outcome(moment);
      if (!outcome) throw new Error(`expectation ${i} has no evaluator`);
      const { status, summary, evidence = [], nearMiss } = outcome;
      return {
        expectation,
        status: status === 'unavailable' && expectation.optional ? 'skipped' : status,
        summary,
        evidence,
        ...(nearMiss !== undefined && { nearMiss }),
      };
    });
  }

  private show(seen: SeenCall, change: 'received' | 'answered' | 'lost', atMs: number): void {
    if (!this.started || seen.order < this.started.start.order) return;
    for (const evaluator of this.started.evaluators) evaluator.call?.(seen, change, atMs);
  }

  private place(call: JournalCall, arrives: boolean): SeenCall {
    if (arrives) {
      const seen: SeenCall = { call, order: this.order };
      this.seen.set(call, seen);
      return seen;
    }
    const seen = this.seen.get(call) ?? { call, order: this.order };
    this.seen.delete(call);
    seen.endOrder = this.order;
    return seen;
  }

  private begin(ms: number, order: number): void {
    const start = { ms, order };
    this.context.rules.forgetMisses();
    const evaluators = this.expectations.map((expectation) =>
      makeEvaluator(expectation, this.context, start),
    );
    this.started = { start, evaluators };
  }

  /** Whether everything counts from this entry on. */
  private beginsAt(entry: TimelineEntry, atMs: number): boolean {
    const { since } = this.options;
    switch (since?.kind) {
      case 'time':
        return !this.started && atMs >= since.ms;
      case 'seq':
        return !this.started && entry.seq >= since.seq;
      case 'mark':
        return (
          entry.type === 'event' &&
          entry.event === 'mark' &&
          (since.name === undefined || since.name === markName(entry.details))
        );
      case undefined:
        return this.armsAnew(entry) || !this.started;
    }
  }

  /**
   * Every process arms for itself, and again after a restart; neither begins anything anew. `armedAt` tells one arming
   * from the next; without it, an arming after a disarming that came since it last began does.
   */
  private armsAnew(entry: TimelineEntry): boolean {
    const { scenario } = this.options;
    if (entry.type !== 'event' || scenario === undefined || scenarioOf(entry.details) !== scenario)
      return false;
    if (endsArming(entry.event)) this.disarmed.add(entry.process);
    if (entry.event !== 'scenarioArmed') return false;
    const arming = armingOf(entry.details);
    const again =
      arming === undefined || this.arming === undefined
        ? this.arming === undefined || this.disarmed.has(entry.process)
        : arming > this.arming;
    if (!again) return false;
    this.arming = arming ?? 0;
    this.disarmed.clear();
    return true;
  }
}

/** Milliseconds since the epoch, given so or in ISO 8601. */
function armingOf(details: object): number | undefined {
  const { armedAt } = details as { armedAt?: unknown };
  const ms = typeof armedAt === 'string' ? Date.parse(armedAt) : armedAt;
  return typeof ms === 'number' && !Number.isNaN(ms) ? ms : undefined;
}

/** All at once, over entries that are there. */
export function evaluate(
  expectations: readonly Expectation[],
  timeline: Iterable<TimelineEntry>,
  moment: Moment,
  options: EvaluationOptions = {},
): ExpectationResult[] {
  const evaluation = new Evaluation(expectations, options);
  for (const entry of timeline) evaluation.add(entry);
  return evaluation.results(moment);
}
