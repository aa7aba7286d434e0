import { TestGate } from '../support/gate';
import { blockCapability, createVolume, dispose, mountCapability, stage } from '../support/lifecycle';
import { conformance, outcome, refusal } from './harness';

conformance('T15 a second call while the first is in flight', (bench) => {
  const gate = new TestGate();
  afterEach(() => gate.clear());
  const start = () => bench.start({ faults: gate });
  const capability = mountCapability();

  test('CreateVolume of the same name: ABORTED that says what is pending; one volume', async () => {
    const { csi } = await start();
    const request = { name: 'one', volume_capabilities: [capability] };
    const held = gate.hold('CreateVolume', 'bytesMade');
    const first = csi.CreateVolume(request);
    await held.reached;
    const { code, message } = await refusal(csi.CreateVolume(request));
    expect(code).toBe('ABORTED');
    expect(message).toMatch(/CreateVolume/);
    held.release();
    const { volume } = await first;
    expect((await csi.CreateVolume(request)).volume?.volume_id).toBe(volume?.volume_id);
    expect((await csi.ListVolumes()).entries).toHaveLength(1);
  });

  test('CreateSnapshot of the same name: ABORTED; one snapshot', async () => {
    const driver = await start();
    const request = { name: 'one', source_volume_id: await createVolume(driver) };
    const held = gate.hold('CreateSnapshot', 'cut');
    const first = driver.csi.CreateSnapshot(request);
    await held.reached;
    expect(await outcome(driver.csi.CreateSnapshot(request))).toBe('ABORTED');
    held.release();
    const { snapshot } = await first;
    expect((await driver.csi.CreateSnapshot(request)).snapshot).toEqual(snapshot);
    expect((await driver.csi.ListSnapshots()).entries).toHaveLength(1);
  });

  test('DeleteSnapshot while it is being cut, restored from, or deleted: ABORTED', async () => {
    const driver = await start();
    const source_volume_id = await createVolume(driver);
    const { snapshot } = await driver.csi.CreateSnapshot({ name: 's', source_volume_id });
    const snapshot_id = snapshot?.snapshot_id ?? '';
    const restoring = gate.hold('CreateVolume', 'bytesMade');
    const restored = createVolume(driver, { source: { snapshot: { snapshot_id } } });
    await restoring.reached;
    expect(await outcome(driver.csi.DeleteSnapshot({ snapshot_id }))).toBe('ABORTED');
    restoring.release();
    await restored;
    const deleting = gate.hold('DeleteSnapshot', 'beforeDelete');
    const deleted = driver.csi.DeleteSnapshot({ snapshot_id });
    await deleting.reached;
    expect(await outcome(driver.csi.DeleteSnapshot({ snapshot_id }))).toBe('ABORTED');
    deleting.release();
    await deleted;
    expect(await outcome(driver.csi.DeleteSnapshot({ snapshot_id }))).toBe('OK');
  });

  test.each([
    ['ControllerPublishVolume', 'beforeAttach'],
    ['ControllerExpandVolume', 'bytesGrown'],
    ['CreateSnapshot', 'beforeCut'],
  ] as const)('%s in flight: DeleteVolume of it is ABORTED, then as ever', async (method, point) => {
    const driver = await start();
    const volume_id = await createVolume(driver);
    const requests = {
      ControllerPublishVolume: { volume_id, node_id: 'node-1', volume_capability: capability },
      ControllerExpandVolume: { volume_id, capacity_range: { required_bytes: '100000000' } },
      CreateSnapshot: { name: 's', source_volume_id: volume_id },
    };
    const held = gate.hold(method, point);
    const first = driver.csi[method](requests[method] as never);
    await held.reached;
    expect(await outcome(driver.csi.DeleteVolume({ volume_id }))).toBe('ABORTED');
    held.release();
    await first;
    await driver.csi.ControllerUnpublishVolume({ volume_id });
    expect(await outcome(driver.csi.DeleteVolume({ volume_id }))).toBe('OK');
  });

  test.each([
    ['mount', mountCapability()],
    ['block', blockCapability()],
  ])(
    'NodeStageVolume in flight (%s): another stage and an unstage are ABORTED; one mount',
    async (_what, volume_capability) => {
      const driver = await start();
      const used = await stage(driver, await createVolume(driver, { capability: volume_capability }), {
        capability: volume_capability,
      });
      const where = { volume_id: used.id, staging_target_path: used.staging };
      await driver.csi.NodeUnstageVolume(where);
      const request = { ...where, volume_capability, publish_context: used.publishContext };
      const held = gate.hold('NodeStageVolume', 'attached');
      const first = driver.csi.NodeStageVolume(request);
      await held.reached;
      expect(await outcome(driver.csi.NodeStageVolume(request))).toBe('ABORTED');
      expect(await outcome(driver.csi.NodeUnstageVolume(where))).toBe('ABORTED');
      expect(await outcome(driver.csi.NodePublishVolume({ ...request, target_path: used.target }))).toBe(
        'ABORTED',
      );
      held.release();
      await first;
      expect(await outcome(driver.csi.NodeStageVolume(request))).toBe('OK');
      const mounts = (await bench.host.mounts.list()).filter(({ mountPoint }) => mountPoint === used.staging);
      expect(mounts).toHaveLength(volume_capability.mount ? 1 : 0);
      await dispose(driver, used);
    },
  );

  test('NodePublishVolume in flight: its unpublish, and another target, are ABORTED', async () => {
    const driver = await start();
    const used = await stage(driver, await createVolume(driver));
    const request = {
      volume_id: used.id,
      staging_target_path: used.staging,
      target_path: used.target,
      volume_capability: used.capability,
      publish_context: used.publishContext,
    };
    const held = gate.hold('NodePublishVolume', 'mounted');
    const first = driver.csi.NodePublishVolume(request);
    await held.reached;
    const where = { volume_id: used.id, target_path: used.target };
    expect(await outcome(driver.csi.NodeUnpublishVolume(where))).toBe('ABORTED');
    expect(await outcome(driver.csi.NodePublishVolume(request))).toBe('ABORTED');
    held.release();
    await first;
    await dispose(driver, used);
  });

  test('a client that gives up: the work is done all the same, and a repeat finds it', async () => {
    const { csi, driver } = await start();
    const request = { name: 'given up', volume_capabilities: [capability] };
    const held = gate.hold('CreateVolume', 'after');
    const impatient = new AbortController();
    const first = outcome(csi.CreateVolume(request, { signal: impatient.signal }));
    await held.reached;
    impatient.abort();
    expect(await first).toBe('CANCELLED');
    held.release();
    await driver.pipeline.drained();
    expect((await csi.ListVolumes()).entries).toHaveLength(1);
    expect(await outcome(csi.CreateVolume(request))).toBe('OK');
    expect((await csi.ListVolumes()).entries).toHaveLength(1);
  });

  test('many at once for one name: one volume, and every answer is that volume or ABORTED', async () => {
    const { csi } = await start();
    const request = { name: 'crowd', volume_capabilities: [capability] };
    const answers = await Promise.all(Array.from({ length: 20 }, () => outcome(csi.CreateVolume(request))));
    expect(new Set([...answers, 'ABORTED'])).toEqual(new Set(['OK', 'ABORTED']));
    expect((await csi.ListVolumes()).entries).toHaveLength(1);
  });
});

conformance('T16 a slow call on one volume', (bench) => {
  const gate = new TestGate();
  afterEach(() => gate.clear());

  test.each(['before', 'attached', 'mounted'])(
    'held at the point %s: another volume is served from end to end',
    async (point) => {
      const driver = await bench.start({ faults: gate });
      const slow = await createVolume(driver);
      const held = gate.hold('NodeStageVolume', point, slow);
      const first = stage(driver, slow);
      await held.reached;
      const other = await stage(driver, await createVolume(driver));
      await driver.csi.NodeGetVolumeStats({ volume_id: other.id, volume_path: other.staging });
      await dispose(driver, other);
      // What does not touch the mount of the slow volume is answered for it too.
      await driver.csi.ControllerGetVolume({ volume_id: slow });
      expect(held.count).toBe(1);
      held.release();
      await dispose(driver, await first);
    },
  );
});
