import type { Method } from '../../../../src/csi/rpcs';
import type { Miss } from '../../../../src/journal/entry';
import { matchesGlob } from '../../../../src/journal/glob';
import type { TimelineEntry } from '../../../../src/journal/merge';
import type {
  CallSelector,
  CountTest,
  Expectation,
  ExpectationTest,
  Patterns,
} from '../../../../src/scenarios/model';
import { type EvaluationOptions, evaluate } from '../../../../src/scenarios/verdict/evaluate';
import type { WorldSnapshot } from '../../../../src/scenarios/verdict/world';

export const EPOCH = Date.parse('2026-01-01T00:00:00.000Z');

interface CallParts {
  process?: string;
  volumeId?: string;
  nodeId?: string;
  request?: object;
  pod?: object;
  timeoutMs?: number;
  stagingTargetPath?: string;
  targetPath?: string;
}

interface AnswerParts {
  code?: string;
  message?: string;
  response?: object;
  fired?: string[];
  misses?: Miss[];
}

/** A timeline, told entry by entry in seconds after EPOCH. */
export class Story {
  readonly entries: TimelineEntry[] = [];
  private readonly seqs = new Map<string, number>();
  private readonly calls = new Map<string, number>();

  received(s: number, method: Method, parts: CallParts = {}): number {
    const { process = 'driver', request = {}, ...rest } = parts;
    const call = (this.calls.get(process) ?? 0) + 1;
    this.calls.set(process, call);
    this.push(s, process, { type: 'received', call, method, request, ...rest });
    return call;
  }

  answered(s: number, call: number, method: Method, parts: AnswerParts & { process?: string } = {}): void {
    const { process = 'driver', code = 'OK', fired = [], ...rest } = parts;
    this.push(s, process, {
      type: 'answered',
      call,
      method,
      code,
      durationMs: 1,
      effects: [],
      fired,
      ...rest,
    });
  }

  /** A call that is answered at once. */
  call(s: number, method: Method, volumeId?: string, parts: CallParts & AnswerParts = {}): number {
    const { code, message, response, fired, misses, ...arriving } = parts;
    const call = this.received(s, method, { ...(volumeId !== undefined && { volumeId }), ...arriving });
    this.answered(s, call, method, {
      ...(arriving.process !== undefined && { process: arriving.process }),
      ...(code !== undefined && { code }),
      ...(message !== undefined && { message }),
      ...(response !== undefined && { response }),
      ...(fired && { fired }),
      ...(misses && { misses }),
    });
    return call;
  }

  create(s: number, name: string, id: string, parameters: Record<string, string> = {}): number {
    return this.call(s, 'CreateVolume', undefined, {
      request: { name, parameters },
      response: { volume: { volume_id: id } },
    });
  }

  event(s: number, event: string, details: object = {}, process = 'driver'): void {
    this.push(s, process, { type: 'event', event, details });
  }

  private push(s: number, process: string, entry: object): void {
    const seq = (this.seqs.get(process) ?? 0) + 1;
    this.seqs.set(process, seq);
    const at = new Date(EPOCH + s * 1000).toISOString();
    this.entries.push({ seq, at, mono: s * 1000, process, ...entry } as TimelineEntry);
  }
}

export function patterns(...globs: string[]): Patterns {
  const all = globs.map((source) => ({
    source,
    test: (value: string | undefined) =>
      source.startsWith('!')
        ? value === undefined || !matchesGlob(source.slice(1), value)
        : value !== undefined && matchesGlob(source, value),
  }));
  return {
    patterns: all,
    source: globs.join(', '),
    test: (value) => all.some((pattern) => pattern.test(value)),
  };
}

export function select(methods: Method[] | undefined, rest: Partial<CallSelector> = {}): CallSelector {
  return { methods: methods && new Set(methods), service: undefined, ...rest };
}

/** `2`, `>=2`, `<=2` or `2..4` */
export function count(source: string): CountTest {
  const numbers = (source.match(/\d+/g) ?? []).map(Number);
  const [from = 0, to = from] = numbers;
  const tests: Record<string, (n: number) => boolean> = {
    '>=': (n) => n >= from,
    '<=': (n) => n <= from,
    '!=': (n) => n !== from,
  };
  return {
    source,
    test: tests[source.slice(0, 2)] ?? ((n) => n >= from && n <= to),
    canGrowTrue: !source.startsWith('<'),
  };
}

const defaults = {
  source: 'as written',
  at: { line: 3, column: 5 },
  optional: false,
};

/** One expectation; what a kind leaves out is undefined. */
export function expectation(test: ExpectationTest, base: Partial<typeof defaults> = {}): Expectation {
  return { ...defaults, ...base, ...test };
}

interface When extends EvaluationOptions {
  /** Seconds after EPOCH; default: the last entry. */
  at?: number;
  final?: boolean;
  world?: WorldSnapshot;
}

/** What becomes of one expectation. */
export function judge(story: Story, test: ExpectationTest, when: When = {}) {
  const last = story.entries.at(-1);
  const { at, final = false, world, ...options } = when;
  const nowMs = at === undefined ? Date.parse(last?.at ?? new Date(EPOCH).toISOString()) : EPOCH + at * 1000;
  const moment = { nowMs, final, ...(world && { world }) };
  const [result] = evaluate([expectation(test)], story.entries, moment, options);
  if (!result) throw new Error('no result');
  const { status, summary, evidence, nearMiss } = result;
  return { status, summary, calls: evidence.map(({ call }) => call), nearMiss };
}
