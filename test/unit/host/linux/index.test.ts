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

(process.platform === 'linux' ? test : test.skip)(
  "the boot id is the kernel's, the same each time",
  async () => {
    const host = createLinuxHost({ stateDir: '/nowhere', cacheDir: '/nowhere' });
    expect(await host.bootId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await host.bootId()).toBe(await host.bootId());
  },
);
