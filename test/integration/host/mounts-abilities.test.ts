import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLinuxHost } from '../../../src/host/linux';
import { describeMounting } from './mounts-support';

describeMounting('what this machine can do', (workspace) => {
  test('is found out without a trace', async () => {
    const { folder, mounts } = workspace;
    const host = createLinuxHost({ stateDir: join(folder, 'state'), cacheDir: join(folder, 'cache') });
    const mountsBefore = await mounts.list();
    const filesBefore = readdirSync('/proc/self/fd');
    const abilities = await host.abilities();
    expect(readdirSync('/proc/self/fd')).toEqual(filesBefore);
    expect(await mounts.list()).toEqual(mountsBefore);
    // These very tests mount and attach: the answer must not say otherwise.
    expect(abilities).toMatchObject({ mount: true, loop: true });
    for (const ability of [abilities.growMountedExt4, ...Object.values(abilities.filesystems)]) {
      expect(ability === true || /\w+ .*\.$/.test(ability)).toBe(true);
    }
  });
});
