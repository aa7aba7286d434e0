import type { Outcome } from '../rehearsal';
import { entryLine } from './formats';
import type { CallEntry, Entry, Timeline } from './timeline';

const LANE_HEIGHT = 46;
const LEFT = 190;
const TOP = 66;
/** Labels of steps that follow each other lie in rows of their own. */
const LABEL_ROWS = 4;
/** Entries of one moment in one lane are drawn beside each other. */
const STEP_X = 11;

/** One page that needs nothing else: lanes for who acts, time from left to right, pauses drawn shorter than they were. */
export function htmlText(timeline: Timeline, outcome: Outcome, title: string): string {
  const entries = timeline.entries;
  const lanes = [...new Set(entries.filter(({ kind }) => kind !== 'step').map(laneOf))];
  const { places, width } = placesOf(entries);
  const height = TOP + lanes.length * LANE_HEIGHT + 20;
  const rows = lanes.map((lane, index) => laneRow(lane, TOP + index * LANE_HEIGHT, width));
  let steps = 0;
  const marks = entries.map((entry, index) => {
    const x = places[index] ?? LEFT;
    if (entry.kind === 'step') return stepLine(entry, x, steps++, height);
    return mark(entry, x, TOP + lanes.indexOf(laneOf(entry)) * LANE_HEIGHT + LANE_HEIGHT / 2);
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${verdict(outcome, timeline.elapsed)}
<p class="legend"><b class="ok">●</b> call, OK <b class="bad">●</b> call, failed <b class="event">▲</b> event <b class="state">■</b> what the kubelet believes <b class="wait">◆</b> backoff <b class="other">·</b> objects, files, logs. Point at a mark to read it; pauses are drawn short.</p>
<div class="lanes"><svg width="${width}" height="${height}" role="img" aria-label="Timeline">
${rows.join('\n')}
${marks.join('\n')}
</svg></div>
<details><summary>Everything, in order</summary><pre>${entries.map((entry) => escapeHtml(entryLine(entry))).join('\n')}</pre></details>
</html>
`;
}

function laneOf({ who, node }: Entry): string {
  return node === undefined ? who : `${who} ${node}`;
}

/** Where each entry is drawn: further right with time, and beside what happened at the same moment. */
function placesOf(entries: readonly Entry[]): { places: number[]; width: number } {
  let x = LEFT;
  let before = 0;
  const places = entries.map(({ at, kind }) => {
    const seconds = Math.max(0, at - before) / 1_000;
    before = Math.max(before, at);
    x += STEP_X + (seconds === 0 ? 0 : 14 * Math.log2(1 + seconds)) + (kind === 'step' ? STEP_X : 0);
    return Math.round(x);
  });
  return { places, width: Math.round(x) + 160 };
}

function laneRow(lane: string, y: number, width: number): string {
  const text = `<text class="lane" x="8" y="${y + LANE_HEIGHT / 2 + 4}">${escapeHtml(lane)}</text>`;
  return `<line class="grid" x1="0" x2="${width}" y1="${y + LANE_HEIGHT}" y2="${y + LANE_HEIGHT}"/>${text}`;
}

function stepLine({ text, at }: Entry, x: number, row: number, height: number): string {
  const y = 12 + (row % LABEL_ROWS) * 14;
  const label = `${escapeHtml(text)} · ${(at / 1_000).toFixed(1)}s`;
  return `<g class="step"><line x1="${x}" x2="${x}" y1="${y - 9}" y2="${height}"/><text x="${x + 4}" y="${y}">${label}</text></g>`;
}

function mark(entry: Entry, x: number, y: number): string {
  const title = `<title>${escapeHtml(entryLine(entry).trim())}</title>`;
  switch (entry.kind) {
    case 'call': {
      const { code, durationMs = 0 } = entry as CallEntry;
      const radius = Math.min(14, 5 + Math.log2(1 + durationMs / 1_000) * 1.5).toFixed(1);
      return `<circle class="${code === 'OK' ? 'ok' : 'bad'}" cx="${x}" cy="${y}" r="${radius}">${title}</circle>`;
    }
    case 'event':
      return `<path class="event" d="M${x} ${y - 6}l6 11h-12z">${title}</path>`;
    case 'state':
      return `<rect class="state" x="${x - 5}" y="${y - 5}" width="10" height="10">${title}</rect>`;
    case 'backoff':
      return `<path class="wait" d="M${x} ${y - 6}l6 6l-6 6l-6-6z">${title}</path>`;
    default:
      return `<circle class="other" cx="${x}" cy="${y}" r="2.5">${title}</circle>`;
  }
}

function verdict({ passed, failure, standings }: Outcome, elapsedMs: number): string {
  const head = passed
    ? `Every step came true, in ${(elapsedMs / 1_000).toFixed(1)} s of the cluster's time.`
    : `Not so: ${failure}`;
  const items = standings.map(
    ({ what, state, why }) =>
      `<li><b>${escapeHtml(what)}</b>: ${escapeHtml(state)}${why.map((line) => `<br>${escapeHtml(line)}`).join('')}</li>`,
  );
  return `<p class="${passed ? 'passed' : 'failed'}">${escapeHtml(head)}</p><ul>${items.join('')}</ul>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--paper:#fff;--faint:#d5dae1;--ok:#2f8f4e;--bad:#c8322b;--event:#b26a00;--state:#2b62c4;--wait:#8a4fc0}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--paper:#14181e;--faint:#2e3640;--ok:#5bc47c;--bad:#ff7468;--event:#f0ae4c;--state:#7eaaff;--wait:#c39bf0}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem}
h1{font-size:1.3rem}.passed{color:var(--ok)}.failed{color:var(--bad);font-weight:600}
.lanes{overflow-x:auto;border:1px solid var(--faint);border-radius:6px}
.lane{font-size:12px;fill:var(--ink)}.grid{stroke:var(--faint)}
.step line{stroke:var(--ink);stroke-dasharray:3 4;opacity:.5}.step text{font-size:11px;fill:var(--ink)}
.ok{fill:var(--ok);color:var(--ok)}.bad{fill:var(--bad);color:var(--bad)}.event{fill:var(--event);color:var(--event)}
.state{fill:var(--state);color:var(--state)}.wait{fill:var(--wait);color:var(--wait)}.other{fill:var(--ink);opacity:.55}
.legend b{margin-left:.8em}pre{font-size:12px;overflow-x:auto}`;
