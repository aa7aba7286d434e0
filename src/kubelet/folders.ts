import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureFolder } from '../util/files';

/** As the kubelet makes its folders and those above them: others may not look into them. @throws Error */
export function ensureKubeletFolder(folder: string): void {
  const parent = path.dirname(folder);
  if (parent !== folder && !fs.existsSync(parent)) ensureKubeletFolder(parent);
  ensureFolder(folder, 0o750);
}
