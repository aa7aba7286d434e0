import * as fs from 'node:fs/promises';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  publish,
  release,
  stage,
  type UsedVolume,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const gate = new TestGate();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start({ faults: gate });
});
afterEach(() => gate.clear());

const restage = (used: UsedVolume, options = {}) =>
  driver.csi.NodeStageVolume(
    {
      volume_id: used.id,
      publish_context: used.publishContext,
      staging_target_path: used.staging,
      volume_capability: used.capability,
    },
    options,
  );
const unstage = (used: UsedVolume, options = {}) =>
  driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging }, options);
const unpublish = (used: UsedVolume, options = {}) =>
  driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target }, options);

async function unstaged(kind: Kind): Promise<UsedVolume> {
  const used = await stage(driver, await createVolume(driver, kind.options()), kind.options());
  await unstage(used);
  return used;
}

/** Repeats a call until nothing that was abandoned is in its way any more, as a CO does. */
async function whenFree(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const error = await call().then(
      () => undefined,
      (thrown) => thrown,
    );
    if (error?.code === Code.ABORTED) continue;
    if (error !== undefined) throw error;
    return;
  }
}

const pending = (operation: string) => ({
  code: Code.ABORTED,
  message: expect.stringMatching(new RegExp(`pending: ${operation} \\(call \\d+\\), for \\d+\\.\\d s`)),
});

describe.each([KINDS.ext4, KINDS.block, KINDS.tmpfs])('calls for one $name volume at once', (kind) => {
  it('are refused while it is staged, naming the stage, and succeed after it', async () => {
    const used = await unstaged(kind);
    const held = gate.hold('NodeStageVolume', 'noted', used.id);
    const first = restage(used);
    await held.reached;
    await expect(restage(used)).rejects.toMatchObject(pending('NodeStageVolume'));
    await expect(unstage(used)).rejects.toMatchObject(pending('NodeStageVolume'));
    await expect(publish(driver, used)).rejects.toMatchObject(pending('NodeStageVolume'));
    await expect(
      driver.csi.NodeExpandVolume({ volume_id: used.id, volume_path: used.staging }),
    ).rejects.toMatchObject(pending('NodeStageVolume'));
    held.release();
    await first;
    await restage(used);
    await publish(driver, used);
    await dispose(driver, used);
  });

  it('are refused while it is published or unpublished', async () => {
    const used = await unstaged(kind);
    await restage(used);
    const publishing = gate.hold('NodePublishVolume', 'mounted', used.id);
    const first = publish(driver, used);
    await publishing.reached;
    await expect(unpublish(used)).rejects.toMatchObject(pending('NodePublishVolume'));
    await expect(unstage(used)).rejects.toMatchObject(pending('NodePublishVolume'));
    publishing.release();
    await first;
    const unpublishing = gate.hold('NodeUnpublishVolume', 'unmounted', used.id);
    const second = unpublish(used);
    await unpublishing.reached;
    await expect(unpublish(used)).rejects.toMatchObject(pending('NodeUnpublishVolume'));
    await expect(publish(driver, used)).rejects.toMatchObject(pending('NodeUnpublishVolume'));
    unpublishing.release();
    await second;
    await unpublish(used);
    await release(driver, used);
  });

  it('are refused while it is unstaged, and then it has to be staged again', async () => {
    const used = await unstaged(kind);
    await restage(used);
    const held = gate.hold('NodeUnstageVolume', 'beforeUnmount', used.id);
    const first = unstage(used);
    await held.reached;
    await expect(publish(driver, used)).rejects.toMatchObject(pending('NodeUnstageVolume'));
    await expect(restage(used)).rejects.toMatchObject(pending('NodeUnstageVolume'));
    held.release();
    await first;
    await expect(publish(driver, used)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    expect(await fs.readdir(used.staging)).toEqual([]);
    await release(driver, used);
  });
});

it('a call whose client gave up lets go of the volume, and does nothing more to it', async () => {
  const used = await unstaged(KINDS.ext4);
  await restage(used);
  const gone = new AbortController();
  const held = gate.hold('NodeUnstageVolume', 'beforeUnmount', used.id);
  const first = unstage(used, { signal: gone.signal });
  await held.reached;
  gone.abort();
  await expect(first).rejects.toMatchObject({ code: Code.CANCELLED });
  gate.clear();
  // The abandoned call has ended when the volume is free; it must not unmount what is staged now.
  await whenFree(() => restage(used));
  await publish(driver, used);
  expect(await machine.mountsAt(used.staging)).toHaveLength(1);
  await dispose(driver, used);
});

it('work goes on when the client gives up, and the repeated call finds it done', async () => {
  const used = await unstaged(KINDS.ext4);
  let proceed: () => void = () => undefined;
  const reached = new Promise<void>((arrived) => {
    gate.at('NodeStageVolume', 'mounted', async () => {
      arrived();
      await new Promise<void>((resolve) => {
        proceed = resolve;
      });
    });
  });
  const gone = new AbortController();
  const first = restage(used, { signal: gone.signal });
  await reached;
  gone.abort();
  await expect(first).rejects.toMatchObject({ code: Code.CANCELLED });
  await expect(restage(used)).rejects.toMatchObject(pending('NodeStageVolume'));
  proceed();
  await whenFree(() => restage(used));
  expect(await machine.mountsAt(used.staging)).toHaveLength(1);
  gate.clear();
  await release(driver, used);
});

it('many volumes are staged and published in parallel, each with its own data', async () => {
  const plans = Array.from({ length: 20 }, (_, index) => ALL_KINDS[index % ALL_KINDS.length] ?? KINDS.ext4);
  const all = await Promise.all(
    plans.map(async (kind, index) => {
      const used = await use(driver, kind.options());
      await writeMark(kind, used, `volume ${index}`);
      return { kind, used, index };
    }),
  );
  for (const { kind, used, index } of all) expect(await readMark(kind, used)).toBe(`volume ${index}`);
  const loops = machine.loops(driver.dataDir).map(({ index }) => index);
  expect(new Set(loops).size).toBe(plans.filter((kind) => kind.loop).length);
  await Promise.all(all.map(({ used }) => dispose(driver, used)));
  expect(machine.loops(driver.dataDir)).toEqual([]);
});

it('calls that hang do not delay another volume', async () => {
  const hung = await unstaged(KINDS.tmpfs);
  const before = gate.hold('NodeGetVolumeStats', 'before');
  const waiting = gate.hold('NodeStageVolume', 'noted', hung.id);
  const gone = new AbortController();
  const calls = Array.from({ length: 100 }, () =>
    driver.csi
      .NodeGetVolumeStats({ volume_id: hung.id, volume_path: hung.staging }, { signal: gone.signal })
      .catch((error) => error.code),
  );
  const staging = restage(hung, { signal: gone.signal }).catch((error) => error.code);
  await waiting.reached;
  const other = await use(driver, KINDS.ext4.options());
  await dispose(driver, other);
  // As many as grpc-js lets begin are all still waiting.
  expect(before.count).toBe(100);
  gone.abort();
  expect(new Set(await Promise.all([...calls, staging]))).toEqual(new Set([Code.CANCELLED]));
  gate.clear();
  await whenFree(() => restage(hung));
  await release(driver, hung);
});
