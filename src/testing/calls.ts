import type { JournalCall } from '../journal/calls';
import type { Moment } from '../journal/query';
import type { CallSelector } from '../scenarios/model';
import { missSentence } from '../scenarios/verdict/armed-rules';
import { isSelected, needsAnswer } from '../scenarios/verdict/select';
import { callLine } from '../scenarios/verdict/text';
import type { Clock } from '../util/clock';
import { assertionError } from './assertion';
import { type Duration, milliseconds } from './duration';
import type { Mark, Recording } from './recording';
import type { SelectorSpec, VolumeSpec } from './scenario-types';

/** Which calls; all keys have to hold. Without a key: every call. */
export interface CallFilter extends SelectorSpec {
  /** The claim of the volume: a pattern of its name, or of `namespace/name`. */
  readonly pvc?: string;
  /** Nothing before it counts. Default: since the start, or the last `reset()`. */
  readonly since?: Mark | Date;
}

/** A call as the journal has it. A copy: it does not change any more. */
export type Call = Readonly<JournalCall>;

/** A filter in the language's own words. */
export function selectorSpec({ pvc, since: _, ...selector }: CallFilter): SelectorSpec {
  if (pvc === undefined) return selector;
  const volume: VolumeSpec =
    typeof selector.volume === 'string' ? { id: selector.volume } : (selector.volume ?? {});
  const slash = pvc.indexOf('/');
  const claim = slash < 0 ? { name: pvc } : { namespace: pvc.slice(0, slash), name: pvc.slice(slash + 1) };
  return { ...selector, volume: { ...volume, pvc: claim } };
}

/** What tests ask of a recording. */
export class CallQueries {
  /** Number of the entry from which on things count. */
  private begin = 0;

  constructor(
    readonly recording: Recording,
    private readonly clock: Clock,
  ) {}

  /** What came before does not count. */
  reset(): void {
    this.begin = this.recording.lastSeq + 1;
  }

  moment(since: Mark | Date | undefined): Moment {
    if (since instanceof Date) return { kind: 'time', ms: since.getTime() };
    return { kind: 'seq', seq: since?.seq ?? this.begin };
  }

  /** @throws SpecError when the filter names what is not there, such as an RPC */
  find(filter: CallFilter = {}): Call[] {
    const holds = this.test(filter);
    return this.recording
      .calls()
      .filter(holds)
      .map((call) => ({ ...call }));
  }

  private test(filter: CallFilter): (call: JournalCall) => boolean {
    const since = this.moment(filter.since);
    const isLate = ({ seq, atMs }: JournalCall) =>
      since.kind === 'time' ? atMs >= since.ms : since.kind !== 'seq' || seq >= since.seq;
    const selector = compileSelector(filter);
    if (!selector) return isLate;
    const byAnswer = needsAnswer(selector);
    return (call) =>
      isLate(call) && !(byAnswer && call.pending) && isSelected(selector, call, this.recording.volumes);
  }

  /**
   * The first such call, be it there already or to come: when it arrives, or when it has been answered where the filter
   * asks for something of the answer.
   * @throws AssertionError when the time is up
   */
  async wait(filter: CallFilter, within: Duration): Promise<Call> {
    const ms = milliseconds(within, 'within');
    const holds = this.test(filter);
    const there = this.recording.calls().find(holds);
    if (there) return { ...there };
    const patience = new AbortController();
    let unsubscribe = () => {};
    const found = new Promise<Call>((resolve) => {
      unsubscribe = this.recording.subscribe((_, changes) => {
        const change = changes.find(({ call }) => holds(call));
        if (change) resolve({ ...change.call });
      });
    });
    try {
      const call = await Promise.race([
        found,
        this.clock.sleep(ms, patience.signal).then(
          () => undefined,
          () => undefined,
        ),
      ]);
      if (call) return call;
    } finally {
      patience.abort();
      unsubscribe();
    }
    throw assertionError([
      `no call ${shown(filter)} came within ${within}${typeof within === 'number' ? 'ms' : ''}`,
      ...this.nearest(filter),
    ]);
  }

  /** For messages: why rules did not fire for the last calls that they are about. */
  missesOf(rules: readonly string[]): string[] {
    const missed = this.find().flatMap((call) => {
      const miss = call.misses.find(({ rule }) => rules.includes(rule));
      return miss ? [`  ${missSentence(miss, call as JournalCall)}`] : [];
    });
    return missed.length > 0 ? ['near misses:', ...missed.slice(-MAX_LISTED)] : this.nearest({});
  }

  /** For messages: calls of the same methods, else the last ones whatever they are. */
  nearest({ rpc, service, since }: CallFilter): string[] {
    const base: CallFilter = since === undefined ? {} : { since };
    const same = this.find({
      ...base,
      ...(rpc !== undefined && { rpc }),
      ...(service !== undefined && { service }),
    });
    if (same.length > 0)
      return listed(
        same,
        rpc === undefined && service === undefined ? 'calls that came' : 'calls of the same method',
      );
    const all = this.find(base);
    return all.length === 0 ? ['no call came at all'] : listed(all, 'other calls that came');
  }
}

const MAX_LISTED = 10;

function listed(calls: readonly Call[], what: string): string[] {
  const last = calls.slice(-MAX_LISTED);
  const many = last.length < calls.length ? ` (the last ${last.length} of ${calls.length})` : '';
  return [`${what}${many}:`, ...last.map((call) => `  ${callLine(call as JournalCall)}`)];
}

/** On one line, as it was written. */
export function shown(filter: CallFilter): string {
  const { since, ...rest } = filter;
  const from =
    since === undefined ? '' : ` since ${since instanceof Date ? since.toISOString() : since.name}`;
  return `${Object.keys(rest).length === 0 ? 'of any kind' : JSON.stringify(rest)}${from}`;
}

function compileSelector(filter: CallFilter): CallSelector | undefined {
  const spec = selectorSpec(filter);
  if (Object.values(spec).every((value) => value === undefined)) return undefined;
  const [expectation] = language().compile([{ count: '>=0', ...spec }]);
  return expectation?.kind === 'count' ? expectation.calls : undefined;
}

/** zod and yaml take a tenth of a second to load: only tests that ask for certain calls pay for it. */
export function language(): typeof import('./compile') {
  return require('./compile') as typeof import('./compile');
}
