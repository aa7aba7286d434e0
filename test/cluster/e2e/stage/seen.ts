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

const FOLDER = path.join(__dirname, '../../seen');

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
