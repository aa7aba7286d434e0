import { Code } from '../../../src/csi/status';
import { createMemoryHost } from '../../../src/host/memory';
import { TestDriver } from '../../support/driver';
import { createVolume, MIB, type MODE, mountCapability, publish, stage } from '../../support/lifecycle';

let driver: TestDriver;
afterEach(() => driver.close());

const start = async (capabilities: string) => {
  driver = await TestDriver.start({ backend: 'memory', host: createMemoryHost(), capabilities });
};

const targets: readonly (readonly [keyof typeof MODE, 'one' | 'many'])[] = [
  ['SINGLE_NODE_WRITER', 'one'],
  ['SINGLE_NODE_READER_ONLY', 'one'],
  ['MULTI_NODE_READER_ONLY', 'many'],
  ['MULTI_NODE_SINGLE_WRITER', 'many'],
  ['MULTI_NODE_MULTI_WRITER', 'many'],
];

it.each(
  ['all', '-SINGLE_NODE_MULTI_WRITER'].flatMap((capabilities) =>
    targets.map(([mode, many]) => ({ capabilities, mode, many })),
  ),
)(
  'BL-076: $mode has $many target(s) with the capabilities $capabilities',
  async ({ capabilities, mode, many }) => {
    await start(capabilities);
    const capability = mountCapability({ mode });
    const used = await stage(driver, await createVolume(driver, { capability }), { capability });
    await publish(driver, used);
    await publish(driver, used);
    const other = { ...used, target: await driver.target('other') };
    const second = publish(driver, other);
    if (many === 'many') await second;
    else await expect(second).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await publish(driver, other);
  },
);

it('BL-079: a volume has its size from the first answer on, and a repeat with another one clashes', async () => {
  await start('all');
  const create = (capacity_range: { required_bytes?: number; limit_bytes?: number } | null) =>
    driver.csi.CreateVolume({ name: 'sized', volume_capabilities: [mountCapability()], capacity_range });
  const { volume } = await create(null);
  const size = Number(volume?.capacity_bytes);
  expect(size).toBe(64 * MIB);
  const { entries } = await driver.csi.ListVolumes();
  expect(entries.map((entry) => entry.volume?.capacity_bytes)).toEqual([`${size}`]);
  for (const same of [{ required_bytes: size }, { required_bytes: 1 }, { limit_bytes: size }, null])
    expect((await create(same)).volume).toEqual(volume);
  for (const other of [{ required_bytes: size + 1 }, { limit_bytes: size - 1 }])
    await expect(create(other)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
});
