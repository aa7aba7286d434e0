import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, publish, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
let one: TestDriver;
let two: TestDriver;
beforeAll(async () => {
  one = await machine.start();
  two = await machine.start({ dataDir: one.dataDir, nodeId: 'node-2', profile: 'node' });
});

async function attach(
  on: TestDriver,
  id: string,
  kind: Kind,
  mode: 'MULTI_NODE_MULTI_WRITER' | 'SINGLE_NODE_WRITER',
) {
  const capability = kind.options(mode).capability ?? {};
  const { node_id } = await on.csi.NodeGetInfo();
  const { publish_context: publishContext } = await one.csi.ControllerPublishVolume({
    volume_id: id,
    node_id,
    volume_capability: capability,
  });
  const used: UsedVolume = {
    id,
    staging: await on.folder(`${id}-staging`),
    target: await on.target(id),
    publishContext,
    capability,
  };
  return used;
}

const stageOn = (on: TestDriver, used: UsedVolume) =>
  on.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });

/** All at once; who is told that another node is at it asks again when that has ended. */
async function together(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const outcomes = await Promise.allSettled(calls.map((call) => call()));
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue;
    expect(outcome.reason).toMatchObject({
      code: Code.ABORTED,
      message: expect.stringContaining('another node'),
    });
    await calls[index]?.();
  }
}

const unpublishOn = (on: TestDriver, used: UsedVolume) =>
  on.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
const unstageOn = (on: TestDriver, used: UsedVolume) =>
  on.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });

async function remove(id: string): Promise<void> {
  await one.csi.ControllerUnpublishVolume({ volume_id: id });
  await one.csi.DeleteVolume({ volume_id: id });
}

const shared = [KINDS.ext4, KINDS.xfs, KINDS.btrfs, KINDS.block, KINDS.directory];

describe.each(shared)('a $name volume on two nodes of one machine', (kind) => {
  it('is one volume: what one writes the other one reads, and each may go first', async () => {
    for (const [leaver, stayer] of [
      [one, two],
      [two, one],
    ] as const) {
      const id = await createVolume(one, kind.options('MULTI_NODE_MULTI_WRITER'));
      const there = new Map<TestDriver, UsedVolume>();
      for (const node of [one, two]) {
        const used = await attach(node, id, kind, 'MULTI_NODE_MULTI_WRITER');
        await stageOn(node, used);
        await publish(node, used);
        there.set(node, used);
      }
      const [leaving, staying] = [there.get(leaver), there.get(stayer)];
      if (!leaving || !staying) throw new Error('not staged');
      expect(machine.loops(one.dataDir)).toHaveLength(kind.loop ? 1 : 0);
      await writeMark(kind, leaving, 'from the one that leaves');
      expect(await readMark(kind, staying)).toBe('from the one that leaves');
      await unpublishOn(leaver, leaving);
      await unstageOn(leaver, leaving);
      await writeMark(kind, staying, 'still working');
      expect(await readMark(kind, staying)).toBe('still working');
      await expect(one.csi.DeleteVolume({ volume_id: id })).rejects.toMatchObject({
        code: Code.FAILED_PRECONDITION,
      });
      await stageOn(leaver, leaving);
      await publish(leaver, leaving);
      expect(await readMark(kind, leaving)).toBe('still working');
      for (const [node, used] of there) {
        await unpublishOn(node, used);
        await unstageOn(node, used);
      }
      expect(machine.loops(one.dataDir)).toEqual([]);
      await remove(id);
    }
  });

  it('is formatted once and attached once when both stage it for the first time at once', async () => {
    for (let round = 0; round < 3; round++) {
      const id = await createVolume(one, kind.options('MULTI_NODE_MULTI_WRITER'));
      const all = await Promise.all(
        [one, two].map(async (node) => ({
          node,
          used: await attach(node, id, kind, 'MULTI_NODE_MULTI_WRITER'),
        })),
      );
      await together(
        all.map(
          ({ node, used }) =>
            () =>
              stageOn(node, used),
        ),
      );
      expect(machine.loops(one.dataDir)).toHaveLength(kind.loop ? 1 : 0);
      for (const { node, used } of all) await publish(node, used);
      const [first, second] = all.map(({ used }) => used);
      if (!first || !second) throw new Error('not staged');
      await writeMark(kind, first, `round ${round}`);
      expect(await readMark(kind, second)).toBe(`round ${round}`);
      await Promise.all(all.map(({ node, used }) => unpublishOn(node, used)));
      await together(
        all.map(
          ({ node, used }) =>
            () =>
              unstageOn(node, used),
        ),
      );
      expect(machine.loops(one.dataDir)).toEqual([]);
      await remove(id);
    }
  });

  it('stays with one node while the other one restarts', async () => {
    const id = await createVolume(one, kind.options('MULTI_NODE_MULTI_WRITER'));
    const used = await attach(one, id, kind, 'MULTI_NODE_MULTI_WRITER');
    await stageOn(one, used);
    await publish(one, used);
    const third = await machine.start({ dataDir: one.dataDir, nodeId: 'node-3', profile: 'node' });
    await writeMark(kind, used, 'undisturbed');
    const there = await attach(third, id, kind, 'MULTI_NODE_MULTI_WRITER');
    await stageOn(third, there);
    await publish(third, there);
    expect(await readMark(kind, there)).toBe('undisturbed');
    await third.stop();
    const again = await machine.start({ dataDir: one.dataDir, nodeId: 'node-3', profile: 'node' });
    expect(await readMark(kind, there)).toBe('undisturbed');
    await stageOn(again, there);
    await unpublishOn(again, there);
    await unstageOn(again, there);
    expect(await readMark(kind, used)).toBe('undisturbed');
    await unpublishOn(one, used);
    await unstageOn(one, used);
    await again.stop();
    expect(machine.loops(one.dataDir)).toEqual([]);
    await remove(id);
  });
});

it('a volume for one node goes to one node', async () => {
  const kind = KINDS.ext4;
  const id = await createVolume(one, kind.options());
  const used = await attach(one, id, kind, 'SINGLE_NODE_WRITER');
  await expect(attach(two, id, kind, 'SINGLE_NODE_WRITER')).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
    message: expect.stringContaining('node-1'),
  });
  await stageOn(one, used);
  const stolen = { ...used, staging: await two.folder('stolen') };
  await expect(stageOn(two, stolen)).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
    message: expect.stringContaining('not attached to node node-2'),
  });
  await unstageOn(one, used);
  await one.csi.ControllerUnpublishVolume({ volume_id: id });
  const moved = await attach(two, id, kind, 'SINGLE_NODE_WRITER');
  await stageOn(two, moved);
  await unstageOn(two, moved);
  await remove(id);
});

it('a volume that was force-detached from a node that still has it mounted has one superblock all the same', async () => {
  const kind = KINDS.ext4;
  const id = await createVolume(one, kind.options());
  const first = await attach(one, id, kind, 'SINGLE_NODE_WRITER');
  await stageOn(one, first);
  await publish(one, first);
  await one.csi.ControllerUnpublishVolume({ volume_id: id });
  const second = await attach(two, id, kind, 'SINGLE_NODE_WRITER');
  await stageOn(two, second);
  await publish(two, second);
  expect(machine.loops(one.dataDir)).toHaveLength(1);
  await writeMark(kind, first, 'from the dead node');
  expect(await readMark(kind, second)).toBe('from the dead node');
  for (const [node, used] of [
    [one, first],
    [two, second],
  ] as const) {
    await unpublishOn(node, used);
    await unstageOn(node, used);
  }
  await remove(id);
});

it('a static volume that a node made is known to the controller, and grown by it', async () => {
  const kind = KINDS.xfs;
  const used: UsedVolume = {
    id: 'static-of-node-2',
    staging: await two.folder('static-staging'),
    target: await two.target('static'),
    publishContext: {},
    capability: kind.options().capability ?? {},
  };
  await two.csi.NodeStageVolume({
    volume_id: used.id,
    staging_target_path: used.staging,
    volume_capability: used.capability,
    volume_context: { backend: 'loop', size: `${kind.size}` },
  });
  await publish(two, used);
  const grown = `${kind.size + (100 << 20)}`;
  await one.csi.ControllerExpandVolume({ volume_id: used.id, capacity_range: { required_bytes: grown } });
  expect(
    await two.csi.NodeExpandVolume({
      volume_id: used.id,
      volume_path: used.target,
      capacity_range: { required_bytes: grown },
    }),
  ).toEqual({ capacity_bytes: grown });
  expect((await one.csi.ListVolumes()).entries.map(({ volume }) => volume?.volume_id)).toContain(used.id);
  await unpublishOn(two, used);
  await unstageOn(two, used);
  await one.csi.DeleteVolume({ volume_id: used.id });
  expect(await fs.readdir(path.join(one.dataDir, 'volumes'))).toEqual([]);
});

it('an inline volume of one node is not swept when another one starts', async () => {
  const target = await two.target('inline');
  await two.csi.NodePublishVolume({
    volume_id: 'inline-of-node-2',
    target_path: target,
    volume_capability: KINDS.ext4.options().capability ?? null,
    volume_context: { 'csi.storage.k8s.io/ephemeral': 'true', backend: 'loop', size: '64Mi' },
  });
  const third = await machine.start({ dataDir: one.dataDir, nodeId: 'node-3', profile: 'node' });
  await fs.writeFile(path.join(target, 'file'), 'still there');
  await third.stop();
  expect(await fs.readFile(path.join(target, 'file'), 'utf8')).toBe('still there');
  await two.csi.NodeUnpublishVolume({ volume_id: 'inline-of-node-2', target_path: target });
  expect(await fs.readdir(path.join(one.dataDir, 'volumes'))).toEqual([]);
});

it('a volume is not staged writable where another node has it read-only, and the other way round', async () => {
  const kind = KINDS.ext4;
  const id = await createVolume(one, kind.options('MULTI_NODE_MULTI_WRITER'));
  const writer = await attach(one, id, kind, 'MULTI_NODE_MULTI_WRITER');
  await stageOn(one, writer);
  const { publish_context: publishContext } = await one.csi.ControllerPublishVolume({
    volume_id: id,
    node_id: 'node-2',
    volume_capability: writer.capability,
    readonly: true,
  });
  const reader = {
    ...writer,
    publishContext,
    staging: await two.folder('reader'),
    target: await two.target('reader'),
  };
  await expect(stageOn(two, reader)).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
    message: expect.stringMatching(/node-1 has .* mounted writable/),
  });
  expect(await machine.mountsAt(reader.staging)).toEqual([]);
  await unstageOn(one, writer);
  await stageOn(two, reader);
  await expect(stageOn(one, writer)).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
    message: expect.stringMatching(/node-2 has .* mounted read-only/),
  });
  await unstageOn(two, reader);
  await remove(id);
});
