import { TestGate } from '../support/gate';
import { createVolume, dispose, MIB, stage } from '../support/lifecycle';
import { conformance, outcome } from './harness';

let last = 0;
const unique = () => `group-${++last}`;

conformance('group snapshots', (bench) => {
  const create = (source_volume_ids: string[], fields: object = {}) =>
    bench.csi.CreateVolumeGroupSnapshot({ name: unique(), source_volume_ids, ...fields });
  const volumes = (count: number, parameters: Record<string, string> = {}) =>
    Promise.all(Array.from({ length: count }, () => createVolume(bench.driver, { parameters })));
  /** A group of two with the ids that Get and Delete ask for. */
  const group = async (parameters: Record<string, string> = {}) => {
    const { group_snapshot } = await create(await volumes(2), { parameters });
    return {
      group_snapshot_id: group_snapshot?.group_snapshot_id ?? '',
      snapshot_ids: (group_snapshot?.snapshots ?? []).map((snapshot) => snapshot.snapshot_id),
    };
  };
  const listed = async (snapshot_id: string) =>
    (await bench.csi.ListSnapshots({ snapshot_id })).entries.length;
  const count = async () => (await bench.csi.ListSnapshots()).entries.length;

  test('GC01 no source_volume_ids, an empty one, no name: INVALID_ARGUMENT', async () => {
    const [id = ''] = await volumes(1);
    expect(await outcome(create([]))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create([id, '']))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create([id], { name: '' }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create([id], { name: 'a\x02' }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create([id], { name: 'x'.repeat(129) }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create([id], { parameters: { flavour: 'mint' } }))).toBe('INVALID_ARGUMENT');
  });

  test('GC01 the same source twice: INVALID_ARGUMENT', async () => {
    const [id = ''] = await volumes(1);
    expect(await outcome(create([id, id]))).toBe('INVALID_ARGUMENT');
  });

  test('GC02 one unknown source: NOT_FOUND, no snapshot is left', async () => {
    const before = await count();
    const [id = ''] = await volumes(1);
    expect(await outcome(create([id, 'unknown']))).toBe('NOT_FOUND');
    expect(await count()).toBe(before);
  });

  test('GC03 the same name and sources, in any order: the same group', async () => {
    const name = unique();
    const [a = '', b = ''] = await volumes(2);
    const first = await create([a, b], { name });
    const again = await create([b, a], { name, secrets: { a: 'b' } });
    expect(again.group_snapshot?.group_snapshot_id).toBe(first.group_snapshot?.group_snapshot_id);
    const ids = (answer: typeof first) =>
      answer.group_snapshot?.snapshots.map((snapshot) => snapshot.snapshot_id).sort();
    expect(ids(again)).toEqual(ids(first));
  });

  test('GC04 the same name, other sources or parameters: ALREADY_EXISTS', async () => {
    const name = unique();
    const [a = '', b = '', c = ''] = await volumes(3);
    await create([a, b], { name });
    for (const ids of [[a], [a, c], [a, b, c]])
      expect(await outcome(create(ids, { name }))).toBe('ALREADY_EXISTS');
    const parameters = { trackBlocks: 'false' };
    expect(await outcome(create([a, b], { name, parameters }))).toBe('ALREADY_EXISTS');
  });

  test('GC05 two sources: two members of the group, of one instant', async () => {
    const ids = await volumes(2);
    const { group_snapshot } = await create(ids);
    const members = group_snapshot?.snapshots ?? [];
    expect(members.map((member) => member.source_volume_id).sort()).toEqual(ids.sort());
    expect(new Set(members.map((member) => member.snapshot_id)).size).toBe(2);
    for (const member of members) {
      expect(member.group_snapshot_id).toBe(group_snapshot?.group_snapshot_id);
      expect(member.creation_time).toEqual(group_snapshot?.creation_time);
      expect(member).toMatchObject({ size_bytes: `${64 * MIB}`, ready_to_use: true });
    }
    expect(Number(group_snapshot?.creation_time?.seconds)).toBeGreaterThan(1_000_000_000);
    expect(group_snapshot?.ready_to_use).toBe(true);
  });

  test('GC05 sources that are mounted: OK', async () => {
    const used = [];
    for (let i = 0; i < 2; i++) used.push(await stage(bench.driver, await createVolume(bench.driver)));
    expect((await create(used.map(({ id }) => id))).group_snapshot?.snapshots).toHaveLength(2);
    for (const one of used) await dispose(bench.driver, one);
  });

  test('GC06 a member that is not ready: the group is not either', async () => {
    const ids = await group({ readyAfter: '1h' });
    const { group_snapshot } = await bench.csi.GetVolumeGroupSnapshot(ids);
    expect(group_snapshot?.snapshots.map((member) => member.ready_to_use)).toEqual([false, false]);
    expect(group_snapshot?.ready_to_use).toBe(false);
  });

  test('GC07 a failure between the members and the group: nothing is left, and a repeat makes it', async () => {
    let fail = true;
    const { csi, driver } = await bench.start({
      faults: {
        before: async () => undefined,
        after: async (_call, response) => response,
        point: async (_call, name) => {
          if (name === 'membersCut' && fail) throw new Error('the machine lost its mind');
        },
      },
    });
    const { volume } = await csi.CreateVolume({
      name: 'v',
      volume_capabilities: [{ mount: {}, access_mode: { mode: 1 } }],
    });
    const call = () =>
      csi.CreateVolumeGroupSnapshot({ name: 'g', source_volume_ids: [volume?.volume_id ?? ''] });
    expect(await outcome(call())).toBe('INTERNAL');
    expect((await csi.ListSnapshots()).entries).toEqual([]);
    expect(driver.locks.list()).toEqual([]);
    fail = false;
    expect(await outcome(call())).toBe('OK');
    expect((await csi.ListSnapshots()).entries).toHaveLength(1);
  });

  test('GC08 a volume that was made not groupable: FAILED_PRECONDITION, no snapshot is left', async () => {
    const before = await count();
    const [a = ''] = await volumes(1);
    const [b = ''] = await volumes(1, { groupable: 'false' });
    expect(await outcome(create([a, b]))).toBe('FAILED_PRECONDITION');
    expect(await count()).toBe(before);
  });

  test('GC08 no space for all of them: RESOURCE_EXHAUSTED, no snapshot is left', async () => {
    const driver = await bench.start({ capacityBytes: BigInt(200 * MIB) });
    const ids = [await createVolume(driver), await createVolume(driver)];
    const call = driver.csi.CreateVolumeGroupSnapshot({ name: 'g', source_volume_ids: ids });
    expect(await outcome(call)).toBe('RESOURCE_EXHAUSTED');
    expect((await driver.csi.ListSnapshots()).entries).toEqual([]);
  });

  test('GC09 one member cannot be deleted alone: INVALID_ARGUMENT', async () => {
    const { snapshot_ids } = await group();
    expect(await outcome(bench.csi.DeleteSnapshot({ snapshot_id: snapshot_ids[0] ?? '' }))).toBe(
      'INVALID_ARGUMENT',
    );
  });

  test('GC10 delete, and again: OK, OK; the members are gone', async () => {
    const ids = await group();
    const remove = () => outcome(bench.csi.DeleteVolumeGroupSnapshot(ids));
    expect([await remove(), await remove()]).toEqual(['OK', 'OK']);
    for (const id of ids.snapshot_ids) expect(await listed(id)).toBe(0);
    expect(await outcome(bench.csi.GetVolumeGroupSnapshot(ids))).toBe('NOT_FOUND');
  });

  test('GC10 a delete that fails half-way: the repeat takes the rest away', async () => {
    const gate = new TestGate();
    const { csi, driver } = await bench.start({ faults: gate });
    const { volume } = await csi.CreateVolume({
      name: 'v',
      volume_capabilities: [{ mount: {}, access_mode: { mode: 1 } }],
    });
    const source_volume_ids = [volume?.volume_id ?? ''];
    const { group_snapshot } = await csi.CreateVolumeGroupSnapshot({ name: 'g', source_volume_ids });
    const ids = {
      group_snapshot_id: group_snapshot?.group_snapshot_id ?? '',
      snapshot_ids: group_snapshot?.snapshots.map((member) => member.snapshot_id) ?? [],
    };
    for (const point of ['beforeDelete', 'groupRemoved']) {
      gate.failOnce('DeleteVolumeGroupSnapshot', point);
      expect(await outcome(csi.DeleteVolumeGroupSnapshot(ids))).toBe('INTERNAL');
    }
    expect(await outcome(csi.DeleteVolumeGroupSnapshot(ids))).toBe('OK');
    expect((await csi.ListSnapshots()).entries).toEqual([]);
    expect(driver.locks.list()).toEqual([]);
  });

  test('GC11 a member in use: FAILED_PRECONDITION, all members intact; OK when it is free', async () => {
    const ids = await group({ dependent: 'true' });
    const snapshot_id = ids.snapshot_ids[1] ?? '';
    const volume_id = await createVolume(bench.driver, { source: { snapshot: { snapshot_id } } });
    expect(await outcome(bench.csi.DeleteVolumeGroupSnapshot(ids))).toBe('FAILED_PRECONDITION');
    for (const id of ids.snapshot_ids) expect(await listed(id)).toBe(1);
    await bench.csi.DeleteVolume({ volume_id });
    expect(await outcome(bench.csi.DeleteVolumeGroupSnapshot(ids))).toBe('OK');
  });

  describe.each(['GetVolumeGroupSnapshot', 'DeleteVolumeGroupSnapshot'] as const)('%s', (method) => {
    test('GC12 an existing group and ids that are not its own: INVALID_ARGUMENT, nothing is done', async () => {
      const { group_snapshot_id, snapshot_ids } = await group();
      const [a = '', b = ''] = snapshot_ids;
      for (const wrong of [[], [a], [a, a], [a, 'unknown'], [a, b, 'unknown']])
        expect(await outcome(bench.csi[method]({ group_snapshot_id, snapshot_ids: wrong }))).toBe(
          'INVALID_ARGUMENT',
        );
      expect(await listed(a)).toBe(1);
      expect(await outcome(bench.csi[method]({ group_snapshot_id, snapshot_ids: [b, a] }))).toBe('OK');
    });

    test('GC12 an unknown group, whatever ids: known by that', async () => {
      const expected = method === 'GetVolumeGroupSnapshot' ? 'NOT_FOUND' : 'OK';
      for (const snapshot_ids of [[], ['unknown']])
        expect(await outcome(bench.csi[method]({ group_snapshot_id: 'unknown', snapshot_ids }))).toBe(
          expected,
        );
    });

    test('GC12 no group id: INVALID_ARGUMENT', async () => {
      expect(await outcome(bench.csi[method]({ snapshot_ids: ['a'] }))).toBe('INVALID_ARGUMENT');
    });
  });

  test('GC13 the capabilities of the service are not empty', async () => {
    const { capabilities } = await bench.csi.GroupControllerGetCapabilities();
    expect(capabilities.map((capability) => capability.rpc?.type)).toEqual([1]);
  });

  test('the group as Get tells it is the group as it was made', async () => {
    const { group_snapshot } = await create(await volumes(2));
    const got = await bench.csi.GetVolumeGroupSnapshot({
      group_snapshot_id: group_snapshot?.group_snapshot_id ?? '',
      snapshot_ids: group_snapshot?.snapshots.map((member) => member.snapshot_id) ?? [],
    });
    expect(got.group_snapshot).toEqual(group_snapshot);
  });

  test('a group outlives a restart', async () => {
    const driver = await bench.start();
    const { group_snapshot } = await driver.csi.CreateVolumeGroupSnapshot({
      name: 'g',
      source_volume_ids: [await createVolume(driver)],
    });
    await driver.stop();
    const again = await bench.start({ dataDir: driver.dataDir });
    const got = await again.csi.GetVolumeGroupSnapshot({
      group_snapshot_id: group_snapshot?.group_snapshot_id ?? '',
      snapshot_ids: group_snapshot?.snapshots.map((member) => member.snapshot_id) ?? [],
    });
    expect(got.group_snapshot).toEqual(group_snapshot);
  });
});
