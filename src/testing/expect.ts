import type { Method } from '../csi/rpcs';
import { callLine } from '../scenarios/verdict/text';
import { verify } from '../scenarios/verdict/verify';
import type { Clock } from '../util/clock';
import { assertionError } from './assertion';
import { type Call, type CallFilter, type CallQueries, language, selectorSpec, shown } from './calls';
import { type Duration, milliseconds } from './duration';
import type { ExpectationSpec, SelectorSpec } from './scenario-types';

/** What is expected of some calls: first how many or in which order, then for how long. */
export interface Expecting {
  /** That many or more. */
  atLeast(count: number): Reached;
  /** That many and no more: with `within`, when that time is over. */
  exactly(count: number): Reached;
  /** That many or fewer. */
  atMost(count: number): Kept;
  /** None; with `for`, none from now on. */
  never(): Kept;
  /** For every volume that sees any of them: the first OK of each comes in this order. */
  inOrder(calls: readonly (Method | SelectorSpec)[]): Reached;
}

/** Awaited as it stands, or once more after a time in which it may come true. Gives the calls. */
export interface Reached extends PromiseLike<Call[]> {
  /** @throws AssertionError with what came instead */
  within(time: Duration): Promise<Call[]>;
}

/** Awaited as it stands, or for a time through which it has to stay true. Gives the calls. */
export interface Kept extends PromiseLike<Call[]> {
  /** @throws AssertionError as soon as it is no longer true */
  for(time: Duration): Promise<Call[]>;
}

/** @internal */
export class Expectations {
  constructor(
    private readonly queries: CallQueries,
    private readonly clock: Clock,
  ) {}

  of(filter: CallFilter): Expecting {
    const calls = selectorSpec(filter);
    const counted = (count: string, words: string) => new Awaited(this, filter, { ...calls, count }, words);
    return {
      atLeast: (count) => counted(`>=${whole(count)}`, `at least ${count}`),
      exactly: (count) => counted(`==${whole(count)}`, `exactly ${count}`),
      atMost: (count) => counted(`<=${whole(count)}`, `at most ${count}`),
      never: () => new Awaited(this, filter, { never: calls }, 'no'),
      inOrder: (order) =>
        new Awaited(
          this,
          filter,
          {
            order: order.map((call) => ({ ...calls, ...(typeof call === 'string' ? { rpc: call } : call) })),
          },
          'in order',
        ),
    };
  }

  /** @throws AssertionError */
  async check(filter: CallFilter, spec: ExpectationSpec, words: string, time?: Duration): Promise<Call[]> {
    const waitMs = time === undefined ? 0 : milliseconds(time, 'never' in spec ? 'for' : 'within');
    const { recording } = this.queries;
    // What must not happen any more counts from now on.
    const fromNow = 'never' in spec && time !== undefined && filter.since === undefined;
    const since = fromNow ? { name: 'now', seq: recording.lastSeq + 1 } : filter.since;
    const { passed, results } = await verify({
      expectations: language().compile([spec]),
      timeline: recording,
      since: this.queries.moment(since),
      waitMs,
      clock: this.clock,
    });
    const scope: CallFilter = { ...filter, ...(since !== undefined && { since }) };
    if (passed) return this.queries.find(scope);
    const [result] = results;
    const evidence = (result?.evidence ?? []).map((call) => `  ${callLine(call)}`);
    const lines = [
      `expected ${words} ${'order' in spec ? spec.order.map((one) => shown(one as CallFilter)).join(', ') : `calls ${shown(filter)}`}: ${result?.summary}`,
      ...(result?.nearMiss === undefined ? [] : [`near miss: ${result.nearMiss}`]),
      ...(evidence.length > 0 ? ['calls:', ...evidence] : this.queries.nearest(scope)),
    ];
    throw assertionError(lines);
  }
}

/** Nothing is looked at before it is awaited. */
class Awaited implements Reached, Kept {
  constructor(
    private readonly expectations: Expectations,
    private readonly filter: CallFilter,
    private readonly spec: ExpectationSpec,
    private readonly words: string,
  ) {}

  within(time: Duration): Promise<Call[]> {
    return this.expectations.check(this.filter, this.spec, this.words, time);
  }

  for(time: Duration): Promise<Call[]> {
    return this.within(time);
  }

  // biome-ignore lint/suspicious/noThenProperty: it is there to be awaited.
  then<A = Call[], B = never>(
    kept?: ((calls: Call[]) => A | PromiseLike<A>) | null,
    broken?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.expectations.check(this.filter, this.spec, this.words).then(kept, broken);
  }
}

function whole(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new TypeError(`expected a whole number of calls from 0 on, found ${count}`);
}
