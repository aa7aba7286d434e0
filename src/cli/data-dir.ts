import { existsSync } from 'node:fs';
import * as path from 'node:path';

/** The data folder that is meant when `named` is given, or nothing. */
export function dataDirOf(named: string | undefined, environment: NodeJS.ProcessEnv = process.env): string {
  return path.resolve(named ?? environment.FAKE_CSI_DATA_DIR ?? defaultDataDir());
}

function defaultDataDir(): string {
  // In a checkout everything stays inside it: nothing to clean up elsewhere, no root needed.
  const checkout = path.join(__dirname, '../..');
  return existsSync(path.join(checkout, '.git')) ? path.join(checkout, '.fake-csi') : '/var/lib/fake-csi';
}
