import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, attributesOf, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import type { UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const gate = new TestGate();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start({ faults: gate });
});
afterEach(() => gate.clear());

const volumesOf = (of: TestDriver) => fs.readdir(path.join(of.dataDir, 'volumes'));

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
      ...attributesOf(kind),
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
