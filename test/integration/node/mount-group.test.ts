import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS } from '../../support/kinds';
import { createVolume, dispose, MIB, mountCapability, publish } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe.each(ALL_KINDS.filter((kind) => !kind.block))('a $name volume with a volume_mount_group', (kind) => {
  const capability = (group: string) =>
    mountCapability({
      fsType: kind.options().capability?.mount?.fs_type ?? '',
      mode: 'SINGLE_NODE_MULTI_WRITER',
      group,
    });

  it('belongs to that group, new files and old', async () => {
    const id = await createVolume(driver, { ...kind.options(), size: kind.size });
    const { node_id } = await driver.csi.NodeGetInfo();
    const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: capability(''),
    });
    const used = {
      id,
      staging: await driver.folder(`${id}-staging`),
      target: await driver.target(id),
      publishContext,
      capability: capability('4321'),
    };
    const stageAs = (group: string) =>
      driver.csi.NodeStageVolume({
        volume_id: id,
        publish_context: publishContext,
        staging_target_path: used.staging,
        volume_capability: capability(group),
      });
    await stageAs('');
    await fs.mkdir(path.join(used.staging, 'old'));
    await fs.writeFile(path.join(used.staging, 'old/file'), '', { mode: 0o600 });
    await fs.symlink('/etc/passwd', path.join(used.staging, 'link'));
    await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    const { gid: gidBefore } = await fs.stat('/etc/passwd');
    await stageAs('4321');
    await publish(driver, used);
    for (const [name, mode] of [
      ['.', 0o2070],
      ['old', 0o2070],
      ['old/file', 0o060],
    ] as const) {
      const stat = await fs.stat(path.join(used.target, name));
      expect({ name, gid: stat.gid, bits: stat.mode & mode }).toEqual({ name, gid: 4321, bits: mode });
    }
    expect((await fs.stat('/etc/passwd')).gid).toBe(gidBefore);
    await fs.writeFile(path.join(used.target, 'new'), '');
    expect((await fs.stat(path.join(used.target, 'new'))).gid).toBe(4321);
    await dispose(driver, used);
  });

  it('that is no number is refused, and nothing is left', async () => {
    const id = await createVolume(driver, { ...kind.options(), size: Math.max(kind.size, 16 * MIB) });
    const { node_id } = await driver.csi.NodeGetInfo();
    await driver.csi.ControllerPublishVolume({ volume_id: id, node_id, volume_capability: capability('') });
    const staging = await driver.folder(`${id}-staging`);
    await expect(
      driver.csi.NodeStageVolume({
        volume_id: id,
        staging_target_path: staging,
        volume_capability: capability('wheel'),
      }),
    ).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect(await machine.mountsAt(staging)).toEqual([]);
    expect(machine.loops(driver.dataDir)).toEqual([]);
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await driver.csi.DeleteVolume({ volume_id: id });
  });
});
