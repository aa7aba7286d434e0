import * as path from 'node:path';
import { parseVolData, VOL_DATA_FILE } from '../vol-data';
import { isUnreadable, LARGEST_FILE, readSmallFile } from './careful';
import type { Finding } from './report';

/** Keys that a kubelet writes: beside `mount`, beside `globalmount`, and for a raw block volume. */
const KEYS = {
  pod: ['attachmentID', 'driverName', 'nodeName', 'specVolID', 'volumeHandle', 'volumeLifecycleMode'],
  global: ['driverName', 'volumeHandle'],
  block: ['attachmentID', 'driverName', 'nodeName', 'specVolID', 'volumeHandle'],
} as const;
export type VolDataPlace = keyof typeof KEYS;
/** Written where a volume was mounted with an SELinux context. */
const SELINUX = 'seLinuxMountContext';

export interface Checked {
  readonly file: string;
  /** Undefined when the kubelet could not make use of it either. */
  readonly data: Record<string, string> | undefined;
  readonly isThere: boolean;
  readonly findings: readonly Finding[];
}

/** One vol_data.json. `unusable`: what the kubelet does when it cannot be read. Never throws. */
export function checkVolData(folder: string, place: VolDataPlace, unusable: string): Checked {
  const file = path.join(folder, VOL_DATA_FILE);
  const bad = (code: string, text: string, isThere = true): Checked => ({
    file,
    data: undefined,
    isThere,
    findings: [{ severity: 'error', code, path: file, text, kubelet: unusable }],
  });
  const text = readSmallFile(file);
  if (text === undefined) return bad('vol-data-missing', 'expected a file, found none', false);
  if (isUnreadable(text)) {
    const isLarge = text.reason.endsWith(`at most ${LARGEST_FILE}`);
    return bad(isLarge ? 'vol-data-too-large' : 'vol-data-unreadable', text.reason);
  }
  if (text.trim() === '')
    return bad('vol-data-empty', 'the file is empty (a crash between truncate and write)');
  let data: Record<string, string>;
  try {
    data = parseVolData(text);
  } catch (error) {
    return bad('vol-data-corrupt', (error as Error).message);
  }
  return { file, data, isThere: true, findings: fieldFindings(file, data, place, unusable) };
}

function fieldFindings(
  file: string,
  data: Record<string, string>,
  place: VolDataPlace,
  unusable: string,
): Finding[] {
  const keys: readonly string[] = KEYS[place];
  const findings: Finding[] = [];
  const missing = keys.filter((key) => data[key] === undefined || data[key] === '');
  for (const key of missing) {
    // An attachment id is empty where nothing is attached.
    if (key === 'attachmentID' && data[key] === '') continue;
    const isIdentity = key === 'driverName' || key === 'volumeHandle' || key === 'specVolID';
    findings.push({
      severity: isIdentity ? 'error' : 'note',
      code: 'vol-data-field-missing',
      path: file,
      text: `expected ${key}, found ${data[key] === undefined ? 'none' : 'an empty one'}`,
      kubelet: isIdentity ? unusable : 'does without it',
    });
  }
  const unknown = Object.keys(data).filter((key) => !keys.includes(key) && key !== SELINUX);
  if (unknown.length > 0)
    findings.push({
      severity: 'note',
      code: 'vol-data-field-unknown',
      path: file,
      text: `expected ${keys.join(', ')}; found also ${unknown.sort().join(', ')}`,
      kubelet: 'ignores it, and writes the file without it at the next mount',
    });
  return findings;
}
