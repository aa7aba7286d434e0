import { Code } from '../../../src/csi/status';
import { KINDS, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  release,
  stage,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

it.each([
  ['ext4', 'xfs'],
  ['xfs', 'btrfs'],
  ['btrfs', 'ext4'],
] as const)('BL-049: a volume made as %s by default is that when the default is %s', async (was, is) => {
  const size = 320 * MIB;
  const before = await machine.start({ fsType: was });
  const used = await use(before, { size, capability: mountCapability() });
  await writeMark(KINDS[was], used, 'from before');
  await before.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await before.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  await before.csi.ControllerUnpublishVolume({ volume_id: used.id });
  await before.stop();

  const after = await machine.start({ fsType: is, dataDir: before.dataDir });
  const again = await stage(after, used.id, { capability: mountCapability() });
  await publish(after, again);
  expect((await machine.mountsAt(again.target))[0]?.fsType).toBe(was);
  expect(await readMark(KINDS[was], again)).toBe('from before');
  // What is made now has the new default.
  const fresh = await use(after, { size, capability: mountCapability() });
  expect((await machine.mountsAt(fresh.target))[0]?.fsType).toBe(is);
  for (const each of [again, fresh]) await dispose(after, each);
  await after.stop();
});

describe('BL-056: a size below what the filesystem needs', () => {
  it.each([
    ['xfs', 300],
    ['btrfs', 109],
  ] as const)('is raised for %s, and the volume can be staged', async (fsType, least) => {
    const driver = await machine.start();
    const capability = mountCapability({ fsType });
    const { volume } = await driver.csi.CreateVolume({
      name: `small ${fsType}`,
      capacity_range: { required_bytes: 100 * MIB },
      volume_capabilities: [capability],
    });
    expect(Number(volume?.capacity_bytes)).toBeGreaterThanOrEqual(least * MIB);
    const used = await stage(driver, volume?.volume_id ?? '', { capability });
    expect((await machine.mountsAt(used.staging))[0]?.fsType).toBe(fsType);
    await release(driver, used);
    await driver.stop();
  });

  it.each(['capability', 'default'])(
    'is OUT_OF_RANGE in one line where the limit forbids more: xfs by %s',
    async (by) => {
      const driver = await machine.start(by === 'default' ? { fsType: 'xfs' } : {});
      const error = await driver.csi
        .CreateVolume({
          name: 'limited',
          capacity_range: { required_bytes: 100 * MIB, limit_bytes: 200 * MIB },
          volume_capabilities: [mountCapability(by === 'default' ? {} : { fsType: 'xfs' })],
        })
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ code: Code.OUT_OF_RANGE });
      expect(error.message).toMatch(/xfs needs it.*limit_bytes is 209715200$/);
      expect((await driver.csi.ListVolumes()).entries).toEqual([]);
      await driver.stop();
    },
  );

  it('is refused in one line at the stage, where the filesystem was named only there', async () => {
    const driver = await machine.start();
    const id = await createVolume(driver, { size: 100 * MIB, capability: mountCapability() });
    const error = await stage(driver, id, { capability: mountCapability({ fsType: 'xfs' }) }).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: Code.FAILED_PRECONDITION });
    expect(error.message).toMatch(/too small for xfs[^\n]*$/);
    expect(error.message).not.toContain('\n');
    expect(machine.loops(driver.dataDir)).toEqual([]);
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await release(driver, await stage(driver, id, { capability: mountCapability() }));
    await driver.stop();
  });
});
