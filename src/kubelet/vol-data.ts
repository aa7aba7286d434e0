import * as fs from 'node:fs';
import * as path from 'node:path';
import { readIfThere, removeFile } from '../util/files';
import { csiText } from './errors';
import { ensureKubeletFolder } from './folders';

export const VOL_DATA_FILE = 'vol_data.json';

/** What the kubelet writes down beside a target, to find its way back at teardown: identity, and nothing of the mount. */
export interface PodVolumeData {
  attachmentID: string;
  driverName: string;
  nodeName: string;
  specVolID: string;
  volumeHandle: string;
  volumeLifecycleMode: 'Persistent' | 'Ephemeral';
}

/** What it writes for a raw block volume, once for the node. */
export type BlockVolumeData = Omit<PodVolumeData, 'volumeLifecycleMode'>;

/** What it writes beside `globalmount`. */
export interface GlobalVolumeData {
  driverName: string;
  volumeHandle: string;
}

type VolumeData = PodVolumeData | BlockVolumeData | GlobalVolumeData;

/** The bytes: one map of strings, keys sorted, as Go's encoder writes it, `<`, `>` and `&` escaped, and a newline. */
export function encodeVolData(data: VolumeData): string {
  const sorted = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = JSON.stringify(sorted).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${text}\n`;
}

/** Truncates and writes, as the kubelet does: a crash in between leaves an empty file. */
export function writeVolData(folder: string, data: VolumeData): void {
  ensureKubeletFolder(folder);
  fs.writeFileSync(path.join(folder, VOL_DATA_FILE), encodeVolData(data), { mode: 0o644 });
}

/** @throws Error in the kubelet's words when the file is missing, empty or no map of strings */
export function readVolData(folder: string): Record<string, string> {
  const file = path.join(folder, VOL_DATA_FILE);
  const text = readIfThere(file);
  if (text === undefined)
    throw new Error(
      csiText(`failed to open volume data file [${file}]: open ${file}: no such file or directory`),
    );
  try {
    return parseVolData(text);
  } catch (error) {
    throw new Error(csiText(`failed to parse volume data file [${file}]: ${(error as Error).message}`));
  }
}

/** What a teardown needs before anything is sent (NewUnmounter, NewBlockVolumeUnmapper). @throws Error in the kubelet's words */
export function loadVolData(folder: string, who: 'unmounter' | 'unmapper'): Record<string, string> {
  try {
    return readVolData(folder);
  } catch (error) {
    const place = who === 'unmounter' ? path.join(folder, 'mount') : folder;
    throw new Error(
      csiText(`${who} failed to load volume data file [${place}]: ${(error as Error).message}`),
    );
  }
}

/** @throws Error with what is wrong with it: expected is one map of strings */
export function parseVolData(text: string): Record<string, string> {
  if (text.trim() === '') throw new Error('EOF');
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    // As Go names what was cut off; of everything else V8 knows no more than that it is none.
    const isCut = /end of JSON input|Unterminated/.test((error as Error).message);
    throw new Error(isCut ? 'unexpected EOF' : 'it is not JSON');
  }
  if (
    typeof data !== 'object' ||
    data === null ||
    Array.isArray(data) ||
    Object.values(data).some((value) => typeof value !== 'string')
  )
    throw new Error('it is no map of strings');
  return data as Record<string, string>;
}

export function removeVolData(folder: string): void {
  removeFile(path.join(folder, VOL_DATA_FILE));
}
