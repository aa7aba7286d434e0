import { createMemoryHost } from '../../../src/host/memory';
import { getMetadataAllocated } from '../../../src/services/snapshot-metadata';
import { TestDriver } from '../../support/driver';
import { createVolume } from '../../support/lifecycle';
import { request } from '../csi/wire';

/** With 24 bytes a tuple, what fits into the 4 MiB that gRPC takes in one message. */
const FIT = (4 << 20) / 24;

it('a stream of more extents than fit into one message is sent in several, however many the client allows', async () => {
  const host = createMemoryHost();
  const count = Math.ceil(FIT) + 1;
  const disks = {
    ...host.disks,
    async *extents() {
      for (let i = 0n; i < count; i++) yield { offset: i << 43n, length: 1n << 42n };
    },
  };
  const driver = await TestDriver.start({ backend: 'memory', host: { ...host, disks } });
  const source_volume_id = await createVolume(driver, { size: `${2n ** 62n}` });
  const { snapshot } = await driver.csi.CreateSnapshot({ name: 'scattered', source_volume_id });
  const asked = request('GetMetadataAllocated', {
    snapshot_id: snapshot?.snapshot_id ?? '',
    max_results: 2 ** 31 - 1,
  });
  const sizes: number[] = [];
  const call = {
    method: 'GetMetadataAllocated',
    signal: new AbortController().signal,
    effect: () => undefined,
    point: async () => undefined,
  } as const;
  for await (const { block_metadata } of getMetadataAllocated(driver.driver.env, asked, call))
    sizes.push(block_metadata?.length ?? 0);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(FIT);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
  await driver.close();
});
