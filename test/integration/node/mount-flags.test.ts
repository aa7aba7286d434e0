import * as fs from 'node:fs/promises';
import { Code } from '../../../src/csi/status';
import { keyOf } from '../../../src/util/keys';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, type Kind } from '../../support/kinds';
import {
  createVolume,
  dispose,
  mountCapability,
  publish,
  release,
  stage,
  type UsedVolume,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const withFlags = (kind: Kind, ...mountFlags: string[]) => ({
  ...kind.options(),
  capability: mountCapability({ fsType: kind.options().capability?.mount?.fs_type ?? '', mountFlags }),
});

const optionsAt = async (at: string) => {
  const [mount] = await machine.mountsAt(at);
  return [...(mount?.options ?? []), ...(mount?.superOptions ?? [])];
};

const mountKinds = ALL_KINDS.filter((kind) => !kind.block);

describe.each(mountKinds)('mount flags of a $name volume', (kind) => {
  it('are in the mount table, at the staging path and at the target', async () => {
    const options = withFlags(kind, 'noatime', 'nosuid,nodev');
    const used = await stage(driver, await createVolume(driver, options), options);
    await publish(driver, used);
    for (const at of [used.staging, used.target])
      expect(await optionsAt(at)).toEqual(expect.arrayContaining(['noatime', 'nosuid', 'nodev']));
    await dispose(driver, used);
  });

  it('that nobody knows are refused by name, and leave nothing behind', async () => {
    const id = await createVolume(driver, kind.options());
    for (const flag of ['debugg', 'nosuchoption=1', 'noatime,bogus', 'source=/dev/null']) {
      const name = flag.split(',').at(-1)?.split('=')[0];
      const { capability } = withFlags(kind, flag);
      await expect(stage(driver, id, { capability })).rejects.toMatchObject({
        code: Code.INVALID_ARGUMENT,
        message: expect.stringContaining(`"${name}"`),
      });
      await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    }
    expect(await machine.table()).not.toContain(id);
    expect(machine.loops(driver.dataDir)).toEqual([]);
    await expect(fs.access(`${driver.dataDir}/nodes/node-1/stages/${keyOf(id)}.json`)).rejects.toThrow(
      'ENOENT',
    );
    const used = await stage(driver, id, kind.options());
    await release(driver, used);
  });
});

it.each([
  { kind: KINDS.ext4, flag: 'data=journal', shown: 'data=journal' },
  { kind: KINDS.ext4, flag: 'errors=remount-ro', shown: 'errors=remount-ro' },
  { kind: KINDS.xfs, flag: 'nouuid', shown: 'nouuid' },
  { kind: KINDS.btrfs, flag: 'compress=zstd', shown: 'compress=zstd:3' },
  { kind: KINDS.ext4, flag: 'sync', shown: 'sync' },
])('the option of a filesystem is given to it: $kind.name $flag', async ({ kind, flag, shown }) => {
  const options = withFlags(kind, flag);
  const used = await stage(driver, await createVolume(driver, options), options);
  expect(await optionsAt(used.staging)).toContain(shown);
  await release(driver, used);
});

it('words for mount(8) alone are no options of a filesystem', async () => {
  const options = withFlags(KINDS.ext4, 'defaults', '_netdev', 'x-systemd.device-timeout=30');
  const used = await stage(driver, await createVolume(driver, options), options);
  await release(driver, used);
});

it('a volume is not staged or published with other flags than it has', async () => {
  const options = withFlags(KINDS.ext4, 'noatime');
  const used: UsedVolume = await stage(driver, await createVolume(driver, options), options);
  const other = withFlags(KINDS.ext4, 'relatime').capability;
  await expect(
    driver.csi.NodeStageVolume({
      volume_id: used.id,
      publish_context: used.publishContext,
      staging_target_path: used.staging,
      volume_capability: other,
    }),
  ).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  await release(driver, used);
});
