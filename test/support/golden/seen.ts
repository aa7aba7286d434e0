import * as fs from 'node:fs';
import * as path from 'node:path';
import { everyKept, type Kept, keep, lineOf, readKept } from './kept';

/** What was seen on a real kubelet with a scenario armed, as docs/kubelet-failures.md tells it. */
export interface Seen {
  readonly scenario: string;
  /** Of the facts' list of knobs: M1, T5 … */
  readonly knob: string;
  /** A line each, in the order in which they came; names and times taken out. */
  readonly lines: readonly string[];
}

export function writeSeen({ scenario, knob, lines }: Seen, version: string): void {
  const text = [...lines, ''].join('\n');
  keep('seen', { name: scenario, title: knob, version, text }, (kept) => kept === text);
}

/** @throws Error where nothing was seen on this line of Kubernetes. */
export function readSeen(scenario: string, version: string): string[] {
  const kept = readKept('seen', scenario, lineOf(version));
  if (!kept) throw new Error(`${scenario} was not seen on ${version} yet: npm run e2e -- --update`);
  return kept.text.split('\n').filter((line) => line !== '');
}

/**
 * Takes out what is another one each time: uids, ids, times, counts; and who was first when a deadline passed, the caller's clock or
 * the driver's gRPC server, which has been told the deadline.
 */
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
    .replace(/ desc = Deadline exceeded$/, ' desc = context deadline exceeded')
    .replace(/\(call \d+\)/g, '(call n)')
    .replace(/, for [\d.]+ s;/g, ', for n s;')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

/** Longer messages hold what the shorter ones say already. */
const LONGEST = 400;

const cell = (text: string) =>
  text.slice(0, LONGEST).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ') +
  (text.length > LONGEST ? ' …' : '');

/** Where what was done is written: in the gallery, or among the cases that change the cluster. */
function sourceOf(name: string): string {
  const scenario = `../scenarios/${name}.yaml`;
  return fs.existsSync(path.join(path.dirname(PAGE), scenario))
    ? scenario
    : `../test/cluster/cases/${name}.yaml`;
}

const PAGE = path.join(__dirname, '../../../docs/kubelet-failures.md');
const MARK = '<!-- below: written by npm run e2e -- --update -->';

/** docs/kubelet-failures.md as it is to be: what is above the mark stays. */
export function failuresPage(): string {
  const [above] = fs.readFileSync(PAGE, 'utf8').split(MARK);
  const keyOf = ({ title, name, versions }: Kept) => `${title || '~'} ${name} ${versions}`;
  const rows = everyKept('seen')
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map(({ title, name, versions, text }) => {
      const said = text.trimEnd().split('\n').map(cell).join('<br>');
      return `| ${title} | [${name}](${sourceOf(name)}) | ${versions.join('<br>')} | ${said} |`;
    });
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
