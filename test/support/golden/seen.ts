import * as fs from 'node:fs';
import * as path from 'node:path';

/** What was seen on a real kubelet with a scenario armed, as docs/kubelet-failures.md tells it. */
export interface Seen {
  readonly scenario: string;
  /** Of the facts' list of knobs: M1, T5 … */
  readonly knob: string;
  /** A line each, in the order in which they came; names and times taken out. */
  readonly lines: readonly string[];
}

const FOLDER = path.join(__dirname, '../../cluster/seen');

export const seenFile = (scenario: string): string => path.join(FOLDER, `${scenario}.txt`);

export function writeSeen({ scenario, knob, lines }: Seen, version: string): void {
  fs.mkdirSync(FOLDER, { recursive: true });
  fs.writeFileSync(seenFile(scenario), [`# ${knob}`, `# Kubernetes ${version}`, ...lines, ''].join('\n'));
}

export function readSeen(scenario: string): string[] {
  return fs
    .readFileSync(seenFile(scenario), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '));
}

/** Takes out what is another one each time: uids, ids, times, counts. */
export function withoutNames(text: string, namespace: string): string {
  return text
    .replaceAll(namespace, '<namespace>')
    .replace(/pvc-[0-9a-f]{8}-[0-9a-f-]{27}/g, 'pvc-…')
    .replace(/csi-[0-9a-f]{64}/g, 'csi-…')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\b[0-9a-f]{64}\b/g, '<sha256>')
    .replace(/\b(vol|snap)-[0-9a-z]{10,}/g, '<$1>')
    .replace(/\/dev\/loop\d+|\bloop\d+\b/g, '<loop>')
    .replace(/\b\d+ of (\d+)\]/g, 'n of $1]')
    .replace(/rule ([\w-]+), \d+\]/g, 'rule $1, n]')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

interface Told extends Seen {
  readonly version: string;
}

function toldBy(file: string): Told {
  const [knob = '', version = '', ...lines] = fs
    .readFileSync(path.join(FOLDER, file), 'utf8')
    .trimEnd()
    .split('\n');
  return {
    scenario: file.replace(/\.txt$/, ''),
    knob: knob.replace(/^#\s*/, ''),
    version: version.replace(/^# Kubernetes\s*/, ''),
    lines,
  };
}

/** Longer messages hold what the shorter ones say already. */
const LONGEST = 400;

const cell = (text: string) =>
  text.slice(0, LONGEST).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ') +
  (text.length > LONGEST ? ' …' : '');

const PAGE = path.join(__dirname, '../../../docs/kubelet-failures.md');
const MARK = '<!-- below: written by npm run e2e -- --update -->';

/** docs/kubelet-failures.md as it is to be: what is above the mark stays. */
export function failuresPage(): string {
  const [above] = fs.readFileSync(PAGE, 'utf8').split(MARK);
  const byKnob = (a: Told, b: Told) =>
    `${a.knob || '~'} ${a.scenario}` < `${b.knob || '~'} ${b.scenario}` ? -1 : 1;
  const rows = fs
    .readdirSync(FOLDER)
    .map(toldBy)
    .sort(byKnob)
    .map(
      ({ knob, scenario, version, lines }) =>
        `| ${knob} | [${scenario}](../scenarios/${scenario}.yaml) | ${version} | ${lines.map(cell).join('<br>')} |`,
    );
  return [
    `${above}${MARK}`,
    '',
    '| knob | scenario | kubelet | seen |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

export const writeFailuresPage = (): void => fs.writeFileSync(PAGE, failuresPage());
export const readFailuresPage = (): string => fs.readFileSync(PAGE, 'utf8');
