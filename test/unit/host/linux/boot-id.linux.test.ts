import { createLinuxHost } from '../../../../src/host/linux';

test("the boot id is the kernel's, the same each time", async () => {
  const host = createLinuxHost({ stateDir: '/nowhere', cacheDir: '/nowhere' });
  expect(await host.bootId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(await host.bootId()).toBe(await host.bootId());
});
