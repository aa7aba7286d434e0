import type { JournalCall } from '../../journal/calls';
import { printable } from '../../util/text';
import type { ExpectationResult } from './evaluate';
import { formatMs } from './evaluator';
import type { Verdict } from './verify';

const SIGNS = { passed: '✓', failed: '✗', pending: '✗', skipped: '-', unavailable: '✗' } as const;

/** For people: a line an expectation; what failed with its near miss and the calls it stands on. */
export function verdictText(verdict: Verdict): string {
  const good = verdict.results.filter(({ status }) => status === 'passed').length;
  const lines = verdict.results.flatMap(resultLines);
  const all = `${verdict.results.length} in ${formatMs(verdict.durationMs)}`;
  // "failed: 1 of 4" alone reads as if one had failed.
  lines.push(verdict.passed ? `passed: ${good} of ${all}` : `failed: only ${good} passed of ${all}`);
  return `${lines.join('\n')}\n`;
}

function resultLines({ status, expectation, summary, nearMiss, evidence }: ExpectationResult): string[] {
  const optional = expectation.optional && status !== 'passed';
  const sign = optional ? '-' : SIGNS[status];
  const note = status === 'passed' || status === 'failed' ? '' : ` (${status})`;
  const head = `${sign} ${printable(expectation.source)}: ${printable(summary)}${note}${optional ? ' (optional)' : ''}`;
  if (status === 'passed') return [head];
  const near = nearMiss === undefined ? [] : [`    near miss: ${printable(nearMiss)}`];
  return [head, ...near, ...evidence.map((call) => `    ${callLine(call)}`)];
}

/** `call 117 at 2026-01-01T00:00:00.000Z NodeStageVolume vol-1 INTERNAL 12ms [slow/first]: message` */
export function callLine(call: JournalCall): string {
  const { method, volumeId, code, lost, durationMs, fired, message } = call;
  const words = [
    `call ${call.call} at ${call.at} ${method}`,
    volumeId,
    code ?? (lost ? 'lost' : 'runs'),
    durationMs === undefined ? undefined : formatMs(durationMs),
    fired.length === 0 ? undefined : `[${fired.join(', ')}]`,
  ];
  const line = words.filter((word) => word !== undefined).join(' ');
  return printable(message === undefined ? line : `${line}: ${message}`);
}
