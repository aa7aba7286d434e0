import { matchesRule } from '../journal/query';
import { missSentence } from '../scenarios/verdict/armed-rules';
import { callLine } from '../scenarios/verdict/text';
import { type Call, type CallFilter, shown } from './calls';
import type { FakeCsi } from './fake-csi';
import type { RpcSpec } from './scenario-types';

/** What Jest wants of a matcher. */
export interface MatcherResult {
  pass: boolean;
  message(): string;
}

/** What a matcher asks of a driver: another copy of this package's class will do. */
export type Received = Pick<FakeCsi, 'calls' | 'fires' | 'leaks' | 'nearest'>;

const MAX_LISTED = 10;

/** For `expect.extend`, where `expect` is no global; importing `fake-csi/jest` does it where it is. */
export const matchers = {
  /** Such a call came; with `times`, so many of them. */
  toHaveReceived(csi: Received, filter: CallFilter | RpcSpec, times?: number): MatcherResult {
    return counted(csi, 'toHaveReceived', asFilter(filter), times, 'received');
  },

  /** Such a call was answered, with `code` where it is given, else with OK. */
  toHaveAnswered(csi: Received, filter: CallFilter | RpcSpec, times?: number): MatcherResult {
    return counted(csi, 'toHaveAnswered', { code: 'OK', ...asFilter(filter) }, times, 'answered');
  },

  /** A rule fired: its name, or `scenario/rule`, or a pattern of those. */
  toHaveFired(csi: Received, rule: string, times?: number): MatcherResult {
    driver(csi, 'toHaveFired');
    const fires = csi.fires();
    const count = matching(fires, rule);
    const pass = holds(count, times);
    return {
      pass,
      message: () =>
        [
          `expected rule ${rule} ${pass ? 'not ' : ''}to have fired${often(times)}, it fired ${count} times`,
          fires.size === 0
            ? 'no rule fired'
            : `rules that fired: ${[...fires].map(([name, n]) => `${name} (${n})`).join(', ')}`,
          ...misses(csi, rule),
        ].join('\n'),
    };
  },

  /** No mount, loop device or frozen filesystem is left of volumes that no record tells of. To be awaited. */
  async toHaveNoLeaks(csi: Received): Promise<MatcherResult> {
    driver(csi, 'toHaveNoLeaks');
    const { loops, mounts, frozen } = await csi.leaks();
    const lines = [
      ...loops.map((one) => `  loop device ${one}`),
      ...mounts.map((one) => `  mount ${one}`),
      ...frozen.map((one) => `  frozen ${one}`),
    ];
    return {
      pass: lines.length === 0,
      message: () =>
        lines.length === 0
          ? 'expected something to be left behind, nothing was'
          : ['left behind:', ...lines].join('\n'),
    };
  },
};

function counted(
  csi: Received,
  matcher: string,
  filter: CallFilter,
  times: number | undefined,
  verb: string,
): MatcherResult {
  driver(csi, matcher);
  const calls = csi.calls(filter);
  const pass = holds(calls.length, times);
  const found = calls.slice(-MAX_LISTED).map((call) => `  ${callLine(call as Call)}`);
  return {
    pass,
    message: () =>
      [
        `expected ${pass ? 'not ' : ''}to have ${verb} ${shown(filter)}${often(times)}, found ${calls.length}`,
        ...(found.length > 0 ? ['calls:', ...found] : csi.nearest(filter)),
      ].join('\n'),
  };
}

function holds(count: number, times: number | undefined): boolean {
  return times === undefined ? count > 0 : count === times;
}

function often(times: number | undefined): string {
  return times === undefined ? '' : ` ${times} times`;
}

function asFilter(filter: CallFilter | RpcSpec): CallFilter {
  return typeof filter === 'string' || Array.isArray(filter)
    ? { rpc: filter as RpcSpec }
    : (filter as CallFilter);
}

function matching(fires: ReadonlyMap<string, number>, pattern: string): number {
  let sum = 0;
  for (const [rule, count] of fires) if (matchesRule(pattern, rule)) sum += count;
  return sum;
}

/** Of the last calls that the rule was about. */
function misses(csi: Received, pattern: string): string[] {
  const lines = csi.calls().flatMap((call) => {
    const miss = call.misses.find(({ rule }) => matchesRule(pattern, rule));
    return miss ? [`  ${missSentence(miss, call)}`] : [];
  });
  return lines.length === 0 ? [] : ['near misses:', ...lines.slice(-MAX_LISTED)];
}

/** @throws TypeError for whatever was given to `expect()` and is no driver */
function driver(csi: unknown, matcher: string): void {
  const { calls, fires } = (csi ?? {}) as Partial<Received>;
  if (typeof calls === 'function' && typeof fires === 'function') return;
  throw new TypeError(
    `${matcher}: expected expect(csi) with what startFakeCsi() gives, found ${String(csi)}`,
  );
}
