import type { CsiMethod } from '../csi/rpcs';
import { rpcs } from '../csi/rpcs';
import { type Case, Failure, type Need, NotApplicable } from './case';
import type { Connection } from './connection';
import { askFacts, type Facts, gateText, hasCapability, missingFor } from './facts';
import type { Hints } from './hints';
import { Probe, type ProbeSetting } from './probe';

export interface RunOptions
  extends Pick<
    ProbeSetting,
    'timeoutMs' | 'sizeBytes' | 'socket' | 'hasControllerSocket' | 'runDriver' | 'readTraces'
  > {
  readonly connection: Connection;
  readonly cases: readonly Case[];
  readonly hints: Hints;
  /** Folder for staging and target paths, which is there; nothing stays in it. */
  readonly folder: string;
  /** Distinguishes this run's names from every other run's: letters and digits. */
  readonly runId: string;
  /** Milliseconds, for durations. */
  now(): number;
  /** Each result as it comes. */
  readonly told?: (result: Result) => void;
}

/** `not run`: an earlier case brought the driver down for good. */
export type Status = 'passed' | 'failed' | 'not applicable' | 'not run';

export interface Result {
  readonly case: Case;
  readonly status: Status;
  /** Why it failed, could not be asked or was not run; empty when it passed. */
  readonly reason: string;
  readonly failure?: Failure;
  readonly durationMs: number;
  /** What the driver would not give back, one line each. */
  readonly leftBehind: readonly string[];
  /** Nobody has answered since. */
  readonly isDriverGone?: true;
}

export interface Run {
  readonly facts: Facts;
  readonly results: readonly Result[];
}

/**
 * Cases one after another, each on volumes of its own. A driver that one of them brought down may come back within
 * `timeoutMs`, as one does that is supervised; otherwise the rest is not run.
 * @throws Unreachable when nobody answers
 */
export async function runCases(options: RunOptions): Promise<Run> {
  const { connection, cases, told, timeoutMs } = options;
  const facts = await askFacts(connection, timeoutMs, options.socket);
  const results: Result[] = [];
  let gone: string | undefined;
  for (const [index, one] of cases.entries()) {
    const result =
      gone === undefined ? await runCase(one, index, options, facts) : notRun(one, `no answer since ${gone}`);
    results.push(result);
    told?.(result);
    if (result.isDriverGone) gone = one.id;
  }
  return { facts, results };
}

function notRun(one: Case, reason: string): Result {
  return { case: one, status: 'not run', reason, durationMs: 0, leftBehind: [] };
}

async function runCase(one: Case, index: number, options: RunOptions, facts: Facts): Promise<Result> {
  const { folder, runId, now } = options;
  const began = now();
  const probe = new Probe({
    ...options,
    facts,
    section: one.section,
    folder: `${folder}/${index + 1}-${one.id}`,
    suffix: `${runId}-${one.id.toLowerCase()}`,
  });
  const verdict = await judge(one, probe, options, facts);
  const leftBehind = await probe.cleanUp();
  const isDriverGone = probe.isDriverGone && !(await comesBack(options));
  return {
    case: one,
    ...verdict,
    durationMs: now() - began,
    leftBehind,
    ...(isDriverGone && { isDriverGone }),
  };
}

async function comesBack({ connection, timeoutMs }: RunOptions): Promise<boolean> {
  const { code } = await connection.send('GetPluginInfo', {}, { timeoutMs, waitForReady: true });
  return code === 'OK';
}

async function judge(
  one: Case,
  probe: Probe,
  options: RunOptions,
  facts: Facts,
): Promise<Pick<Result, 'status' | 'reason' | 'failure'>> {
  const missing = missingOf(one, options, facts);
  if (missing !== undefined) return { status: 'not applicable', reason: missing };
  try {
    await one.run(probe);
    return { status: 'passed', reason: '' };
  } catch (error) {
    if (error instanceof NotApplicable) return { status: 'not applicable', reason: error.message };
    if (error instanceof Failure) return { status: 'failed', reason: error.message, failure: error };
    // An answer that the case did not think of: the other cases are to be asked all the same.
    const found = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const failure = new Failure('', 'an answer that can be judged', found);
    return { status: 'failed', reason: failure.message, failure };
  }
}

function missingOf({ rpc, needs = [] }: Case, options: RunOptions, facts: Facts): string | undefined {
  const method = methodOf(rpc);
  const closed = method && missingFor(method, facts);
  const isAboutAbsence = needs.some((need) => need.startsWith('no '));
  if (closed !== undefined && !isAboutAbsence) return closed;
  return needs.map((need) => missingNeed(need, options, facts)).find((reason) => reason !== undefined);
}

/** Of `(any)` and of a whole service there is none. */
export function methodOf(rpc: string): CsiMethod | undefined {
  const method = rpc.split('.')[1] ?? '';
  return Object.hasOwn(rpcs, method) ? (method as CsiMethod) : undefined;
}

function missingNeed(need: Need, options: RunOptions, facts: Facts): string | undefined {
  if (need === 'a second endpoint')
    return options.hasControllerSocket ? undefined : 'needs a second endpoint (--controller-endpoint)';
  if (need === 'a command')
    return options.runDriver ? undefined : 'needs a way to start the driver (--command)';
  if (need === 'places to look in')
    return options.readTraces ? undefined : "needs the driver's logs and records (--look-in)";
  if (need.startsWith('hint ')) {
    const hint = need.slice('hint '.length) as keyof Hints;
    return options.hints[hint] === undefined ? `needs the hint ${hint} (--hints)` : undefined;
  }
  if (need.startsWith('no ')) {
    const capability = need.slice('no '.length);
    if (capability.startsWith('node.') && !facts.node) return 'the Node service is not served here';
    return hasCapability(facts, capability) ? `${capability} is advertised` : undefined;
  }
  return hasCapability(facts, need) ? undefined : `needs ${need}`;
}

/** What a case asks for, on one line. */
export function needsText({ rpc, needs = [] }: Case): string {
  const method = methodOf(rpc);
  const gates =
    needs.some((need) => need.startsWith('no ')) || !method ? [] : rpcs[method].gates.map(gateText);
  return [...new Set([...gates, ...needs])].join(', ');
}
