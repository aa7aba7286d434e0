import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code, CsiError } from '../../../src/csi/status';
import { ConditionGate } from '../../support/condition-gate';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  type UsedVolume,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const gate = new TestGate();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start({ faults: gate });
});
afterEach(() => gate.clear());

const volumesOf = (of: TestDriver) => fs.readdir(path.join(of.dataDir, 'volumes'));
const attributes = (kind: Kind) => ({
  backend: kind.options().parameters?.backend ?? 'loop',
  size: `${kind.size}`,
});

let names = 0;

/** An inline volume of a pod, as the kubelet asks for it. */
async function inline(kind: Kind, id = `csi-inline-${names++}`, context: Record<string, string> = {}) {
  const target = await driver.target(id);
  const request = {
    volume_id: id,
    target_path: target,
    volume_capability: kind.options().capability ?? null,
    volume_context: {
      'csi.storage.k8s.io/ephemeral': 'true',
      'csi.storage.k8s.io/pod.name': 'pod',
      ...attributes(kind),
      ...context,
    },
  };
  const used: UsedVolume = {
    id,
    staging: '',
    target,
    publishContext: {},
    capability: request.volume_capability ?? {},
  };
  return { used, request };
}

describe.each(ALL_KINDS)('an inline $name volume', (kind) => {
  it('lives from its publish to its unpublish, and is mounted once', async () => {
    const { used, request } = await inline(kind);
    await driver.csi.NodePublishVolume(request);
    await writeMark(kind, used, 'inline');
    for (let round = 0; round < 3; round++) await driver.csi.NodePublishVolume(request);
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    expect(await readMark(kind, used)).toBe('inline');
    const stats = await driver.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
    expect(stats.volume_condition).toMatchObject({ abnormal: false });
    expect((await driver.csi.ListVolumes()).entries).toEqual([]);
    for (let round = 0; round < 3; round++)
      await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    expect(await volumesOf(driver)).toEqual([]);
    expect(machine.loops(driver.dataDir)).toEqual([]);
    expect(await machine.table()).toBe('');
    expect(await fs.readdir(path.join(driver.dataDir, 'nodes/node-1/mounts'))).toEqual([]);
  });

  it('leaves nothing behind wherever its publish fails', async () => {
    const { used, request } = await inline(kind);
    await driver.csi.NodePublishVolume(request);
    const points = [...new Set(gate.passed.filter((name) => name.startsWith('NodePublishVolume.')))];
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    for (const name of points) {
      const point = name.slice('NodePublishVolume.'.length);
      if (point === 'after') continue;
      gate.failOnce('NodePublishVolume', point);
      await expect(driver.csi.NodePublishVolume(request)).rejects.toMatchObject({
        message: `injected at ${point}`,
      });
      expect({ point, volumes: await volumesOf(driver) }).toEqual({ point, volumes: [] });
      expect(await machine.table()).toBe('');
      expect(machine.loops(driver.dataDir)).toEqual([]);
    }
    await driver.csi.NodePublishVolume(request);
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  });
});

it('an inline volume that is refused was never made', async () => {
  const link = await driver.target('link');
  await fs.symlink('/tmp', link);
  const refusals: [Code, () => Promise<unknown>][] = [
    [
      Code.INVALID_ARGUMENT,
      async () => driver.csi.NodePublishVolume({ ...(await inline(KINDS.ext4)).request, target_path: link }),
    ],
    [
      Code.INVALID_ARGUMENT,
      async () => driver.csi.NodePublishVolume((await inline(KINDS.ext4, 'i-1', { size: '-5' })).request),
    ],
    [
      Code.INVALID_ARGUMENT,
      async () =>
        driver.csi.NodePublishVolume((await inline(KINDS.ext4, 'i-2', { backend: '../x' })).request),
    ],
    [
      Code.FAILED_PRECONDITION,
      async () =>
        driver.csi.NodePublishVolume({
          ...(await inline(KINDS.tmpfs)).request,
          volume_capability: KINDS.block.options().capability ?? null,
        }),
    ],
    [
      Code.FAILED_PRECONDITION,
      async () =>
        driver.csi.NodePublishVolume({
          ...(await inline(KINDS.ext4)).request,
          target_path: '/nowhere/at/all',
        }),
    ],
  ];
  for (const [code, call] of refusals) {
    await expect(call()).rejects.toMatchObject({ code });
    expect(await volumesOf(driver)).toEqual([]);
  }
  await fs.unlink(link);
});

it('a second unpublish of an inline volume that is just going is ABORTED, then OK', async () => {
  const { used, request } = await inline(KINDS.ext4);
  await driver.csi.NodePublishVolume(request);
  const held = gate.hold('NodeUnpublishVolume', 'unmounted');
  const first = driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await held.reached;
  await expect(
    driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target }),
  ).rejects.toMatchObject({ code: Code.ABORTED });
  held.release();
  await first;
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
});

describe.each(ALL_KINDS)('a static $name volume', (kind) => {
  it('is made when it is first staged, keeps its data, and has the size it says', async () => {
    const id = `static-${kind.name}`;
    const used: UsedVolume = {
      id,
      staging: await driver.folder(`${id}-staging`),
      target: await driver.target(id),
      publishContext: {},
      capability: kind.options().capability ?? {},
    };
    const stageIt = () =>
      driver.csi.NodeStageVolume({
        volume_id: id,
        staging_target_path: used.staging,
        volume_capability: used.capability,
        volume_context: attributes(kind),
      });
    for (let round = 0; round < 3; round++) await stageIt();
    await publish(driver, used);
    await writeMark(kind, used, 'static');
    await driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    await stageIt();
    await publish(driver, used);
    expect(await readMark(kind, used)).toBe('static');
    const { volume } = await driver.csi.ControllerGetVolume({ volume_id: id });
    expect(volume?.capacity_bytes).toBe(`${kind.size}`);
    await dispose(driver, used);
    expect(await volumesOf(driver)).toEqual([]);
  });
});

describe('a static volume whose first use is refused', () => {
  const capability = mountCapability();
  const context = { size: '64Mi' };

  it('was never made, so that its attributes can still be mended', async () => {
    const staging_target_path = await driver.folder('mended-staging');
    const request = { volume_id: 'mended', staging_target_path, volume_capability: capability };
    for (const refused of [
      { ...request, volume_context: { size: '5' } },
      { ...request, volume_context: { size: '200Ki' } },
      { ...request, volume_context: context, volume_capability: mountCapability({ fsType: 'zfs' }) },
      { ...request, volume_context: context, volume_capability: mountCapability({ mountFlags: ['bogus'] }) },
      { ...request, volume_context: context, staging_target_path: '/absent/staging' },
    ]) {
      await expect(driver.csi.NodeStageVolume(refused)).rejects.toBeInstanceOf(CsiError);
      expect(await volumesOf(driver)).toEqual([]);
    }
    await driver.csi.NodeStageVolume({ ...request, volume_context: context });
    await driver.csi.NodeUnstageVolume(request);
    await driver.csi.DeleteVolume({ volume_id: 'mended' });
  });

  it('was never made by a publish without a stage, or an attachment that cannot be', async () => {
    await expect(
      driver.csi.NodePublishVolume({
        volume_id: 'unstaged',
        staging_target_path: await driver.folder('unstaged-staging'),
        target_path: await driver.target('unstaged'),
        volume_capability: capability,
        volume_context: context,
      }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await expect(
      driver.csi.ControllerPublishVolume({
        volume_id: 'unattached',
        node_id: 'node-1',
        volume_capability: mountCapability({ fsType: 'zfs' }),
        volume_context: context,
      }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    expect(await volumesOf(driver)).toEqual([]);
  });

  it('stays when its disk failed, with what is wrong with it', async () => {
    const gate = new ConditionGate();
    const faulty = await machine.start({ faults: gate });
    const staging_target_path = await faulty.folder('failed-staging');
    const request = { volume_id: 'failed', staging_target_path, volume_capability: capability };
    const stage = () => faulty.csi.NodeStageVolume({ ...request, volume_context: context });
    gate.condition = { kind: 'corruptSuperblock' };
    await expect(stage()).rejects.toMatchObject({ code: Code.INTERNAL });
    gate.condition = undefined;
    await expect(stage()).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    await faulty.csi.DeleteVolume({ volume_id: 'failed' });
  });

  it('stays when it was used before', async () => {
    const staging_target_path = await driver.folder('used-staging');
    const request = { volume_id: 'used', staging_target_path, volume_capability: capability };
    await driver.csi.NodeStageVolume({ ...request, volume_context: context });
    await driver.csi.NodeUnstageVolume(request);
    await expect(
      driver.csi.NodeStageVolume({
        ...request,
        volume_capability: mountCapability({ mountFlags: ['bogus'] }),
      }),
    ).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect(await volumesOf(driver)).toHaveLength(1);
    await driver.csi.DeleteVolume({ volume_id: 'used' });
  });
});

it('a volume that nobody made and that says no size is unknown', async () => {
  const staging = await driver.folder('unknown-staging');
  const request = {
    volume_id: 'unknown',
    staging_target_path: staging,
    volume_capability: mountCapability(),
  };
  await expect(driver.csi.NodeStageVolume(request)).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await expect(
    driver.csi.NodePublishVolume({ ...request, target_path: await driver.target('unknown') }),
  ).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

describe('without STAGE_UNSTAGE_VOLUME', () => {
  let own: TestDriver;
  beforeAll(async () => {
    own = await machine.start({ capabilities: '-STAGE_UNSTAGE_VOLUME', faults: gate });
  });

  it.each(ALL_KINDS)('a $name volume is staged and unstaged by its publishes', async (kind) => {
    const options = kind.options('SINGLE_NODE_MULTI_WRITER');
    const id = await createVolume(own, options);
    const { node_id } = await own.csi.NodeGetInfo();
    const { publish_context: publishContext } = await own.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: options.capability ?? null,
    });
    const used = {
      id,
      staging: '',
      target: await own.target(id),
      publishContext,
      capability: options.capability ?? {},
    };
    const second = { ...used, target: await own.target(`${id}-second`) };
    for (let round = 0; round < 3; round++) await publish(own, used);
    await publish(own, second);
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    await writeMark(kind, used, 'in both');
    expect(await readMark(kind, second)).toBe('in both');
    await own.csi.NodeExpandVolume({ volume_id: id, volume_path: used.target });
    await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    expect(await readMark(kind, second)).toBe('in both');
    for (let round = 0; round < 2; round++)
      await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: second.target });
    expect(machine.loops(own.dataDir)).toEqual([]);
    expect(await fs.readdir(path.join(own.dataDir, 'nodes/node-1/stages'))).toEqual([]);
    await publish(own, used);
    expect(await readMark(kind, used)).toBe('in both');
    await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await own.csi.ControllerUnpublishVolume({ volume_id: id });
    await own.csi.DeleteVolume({ volume_id: id });
  });

  it('a publish that fails leaves no stage behind', async () => {
    const options = KINDS.ext4.options();
    const id = await createVolume(own, options);
    const { node_id } = await own.csi.NodeGetInfo();
    const { publish_context: publishContext } = await own.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: options.capability ?? null,
    });
    const used = {
      id,
      staging: '',
      target: await own.target(id),
      publishContext,
      capability: options.capability ?? {},
    };
    for (const point of ['attached', 'mounted', 'staged', 'beforeMount']) {
      gate.failOnce('NodePublishVolume', point);
      await expect(publish(own, used)).rejects.toMatchObject({ message: `injected at ${point}` });
      expect(machine.loops(own.dataDir)).toEqual([]);
      expect(await fs.readdir(path.join(own.dataDir, 'nodes/node-1/mounts'))).toEqual([]);
    }
    await publish(own, used);
    await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await own.csi.ControllerUnpublishVolume({ volume_id: id });
    await own.csi.DeleteVolume({ volume_id: id });
  });
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
