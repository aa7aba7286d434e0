import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinuxHost } from '../../../../src/host/linux';

test('making a host touches nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  const stateDir = join(folder, 'state');
  const cacheDir = join(folder, 'cache');
  expect(createLinuxHost({ stateDir, cacheDir }).kind).toBe('linux');
  expect(existsSync(stateDir) || existsSync(cacheDir)).toBe(false);
  rmSync(folder, { recursive: true });
});
