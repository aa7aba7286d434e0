/** A call, as far as a golden journal tells of it. */
export interface GoldenCall {
  readonly method: string;
  /** Left out: it was never answered. */
  readonly code?: string;
  /** Milliseconds since whenever: only differences count. */
  readonly atMs: number;
  /** Milliseconds from the call to its answer. */
  readonly durationMs?: number;
}

/** Something that was done to the cluster: what follows is told by the time since then. */
export interface GoldenStep {
  readonly step: string;
  readonly atMs: number;
}

/** One line of a golden journal: `Method CODE`, or `-- step`. */
export interface GoldenLine {
  readonly gapMs: number;
  readonly text: string;
}

/** Asked for at any time, by timers and health checks, and not for a volume on its way. */
const BY_TIMER = new Set([
  'Probe',
  'GetPluginInfo',
  'GetPluginCapabilities',
  'ControllerGetCapabilities',
  'GroupControllerGetCapabilities',
  'GetCapacity',
  'ListVolumes',
  'ListSnapshots',
  'ControllerGetVolume',
  'NodeGetInfo',
  'NodeGetVolumeStats',
  'GetInfo',
  'NotifyRegistrationStatus',
]);

/** Gaps are told in these steps; what is shorter than half of one is none. */
const STEP_MS = 500;
/** After the answer; shorter than any backoff of the attacher. */
const AT_ONCE_MS = 500;

/**
 * The calls of a case in order, with what was done to the cluster in between, and the time of each call since the line
 * before it, rounded.
 */
export function goldenLines(calls: readonly GoldenCall[], steps: readonly GoldenStep[]): GoldenLine[] {
  const asked = withoutRepeats(withoutStatistics([...calls].sort((a, b) => a.atMs - b.atMs)))
    .filter(({ method }) => !BY_TIMER.has(method))
    .map(({ method, code = 'no answer', atMs }) => ({ text: `${method} ${code}`, atMs }));
  const done = steps.map(({ step, atMs }) => ({ text: `-- ${step}`, atMs }));
  let last = 0;
  return [...done, ...asked]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ text, atMs }) => {
      const gapMs = text.startsWith('-- ') ? 0 : Math.round((atMs - last) / STEP_MS) * STEP_MS;
      last = atMs;
      return { gapMs, text };
    });
}

/** Before each NodeGetVolumeStats the kubelet asks what the node can do: by a timer, too. */
function withoutStatistics(calls: readonly GoldenCall[]): GoldenCall[] {
  const kept = [...calls];
  for (const { method, atMs } of calls) {
    if (method !== 'NodeGetVolumeStats') continue;
    const asked = kept.findLastIndex((call) => call.method === 'NodeGetCapabilities' && call.atMs <= atMs);
    if (asked >= 0) kept.splice(asked, 1);
  }
  return kept;
}

/**
 * The external-attacher looks again when the VolumeAttachment changes, and its own change may not have come back to it: now
 * and then it attaches once more what it has just attached, or detached.
 */
function withoutRepeats(calls: readonly GoldenCall[]): GoldenCall[] {
  return calls.filter(({ method, code, atMs }, index) => {
    if (code !== 'OK' || !/^Controller(P|Unp)ublishVolume$/.test(method)) return true;
    const before = calls.slice(0, index).findLast((call) => call.method === method);
    return before?.code !== 'OK' || atMs - before.atMs - (before.durationMs ?? 0) > AT_ONCE_MS;
  });
}

export function showGolden(lines: readonly GoldenLine[]): string {
  return lines
    .map(({ gapMs, text }) =>
      text.startsWith('-- ') ? text : `${(gapMs === 0 ? '' : `+${gapMs / 1000}s`).padStart(7)}  ${text}`,
    )
    .join('\n');
}

/** @throws Error with the line that is none. */
export function readGolden(text: string): GoldenLine[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    if (line.startsWith('-- ')) return { gapMs: 0, text: line };
    const found = /^\s*(?:\+([\d.]+)s\s+)?(\w+ .+)$/.exec(line);
    if (!found) throw new Error(`expected "+2s  Method CODE" or "-- step", found ${JSON.stringify(line)}`);
    const [, gap = '0', said = ''] = found;
    return { gapMs: Number(gap) * 1000, text: said };
  });
}

/** A busy machine is late by a part of what it waits for, and by the time that its own work takes. */
export interface Tolerance {
  readonly part: number;
  readonly ms: number;
}

/**
 * After an outage each client has its watches back at a moment of its own, whatever is done meanwhile: the pauses of client-go
 * double up to 30 s, and each is up to twice as long by chance.
 */
const WATCHES_BACK_MS = 60_000;

/** Where two journals differ, a line each; none: they are the same within the tolerance. */
export function goldenDifferences(
  wanted: readonly GoldenLine[],
  found: readonly GoldenLine[],
  { part, ms }: Tolerance,
): string[] {
  const differences: string[] = [];
  let waitedFor = 0;
  for (let i = 0; i < Math.max(wanted.length, found.length); i++) {
    const [w, f] = [wanted[i], found[i]];
    if (w?.text === '-- api start') waitedFor = WATCHES_BACK_MS;
    if (w?.text !== f?.text) {
      differences.push(`line ${i + 1}: expected ${w?.text ?? 'nothing'}, found ${f?.text ?? 'nothing'}`);
      // What follows is shifted: one difference is enough to look at.
      break;
    }
    if (w && f && Math.abs(w.gapMs - f.gapMs) > Math.max(w.gapMs, f.gapMs) * part + ms + waitedFor)
      differences.push(`line ${i + 1}, ${w.text}: expected after ${w.gapMs} ms, found after ${f.gapMs} ms`);
  }
  return differences;
}

/** Steps that do something, rather than wait or look. */
export const isAct = ({ kind }: { readonly kind: string }): boolean =>
  !['wait', 'assert', 'advance'].includes(kind);
