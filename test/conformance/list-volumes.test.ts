import type { TestDriver } from '../support/driver';
import { createVolume, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('ListVolumes', (bench) => {
  const idsOf = ({ entries }: { entries: { volume: { volume_id: string } | null }[] }) =>
    entries.map((entry) => entry.volume?.volume_id ?? '');
  const many = async (count: number, options = {}) => {
    const driver = await bench.start(options);
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await createVolume(driver, { size: 4096 * 256 }));
    return { driver, ids };
  };
  const pages = async (driver: TestDriver, max_entries: number) => {
    const found: string[][] = [];
    let starting_token = '';
    do {
      const answer = await driver.csi.ListVolumes({ max_entries, starting_token });
      found.push(idsOf(answer));
      starting_token = answer.next_token;
    } while (starting_token !== '');
    return found;
  };

  test('L01 max_entries -1: INVALID_ARGUMENT', async () => {
    expect(await outcome(bench.csi.ListVolumes({ max_entries: -1 }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(bench.csi.ListVolumes({ max_entries: -(2 ** 31) }))).toBe('INVALID_ARGUMENT');
  });

  test('L02 7 volumes, max_entries 3: pages of 3, 3 and 1, each volume once', async () => {
    const { driver, ids } = await many(7);
    const found = await pages(driver, 3);
    expect(found.map((page) => page.length)).toEqual([3, 3, 1]);
    expect(found.flat().sort()).toEqual(ids.sort());
  });

  test('L03 max_entries equal to the total, or above: everything and no next_token', async () => {
    const { driver, ids } = await many(3);
    for (const max_entries of [3, 4, 2 ** 31 - 1, 0]) {
      const answer = await driver.csi.ListVolumes({ max_entries });
      expect([idsOf(answer).length, answer.next_token]).toEqual([ids.length, '']);
    }
  });

  test('L03 a token with max_entries 0: all the rest', async () => {
    const { driver, ids } = await many(4);
    const first = await driver.csi.ListVolumes({ max_entries: 1 });
    const rest = await driver.csi.ListVolumes({ starting_token: first.next_token });
    expect([...idsOf(first), ...idsOf(rest)].sort()).toEqual(ids.sort());
    expect(rest.next_token).toBe('');
  });

  test('nothing to list: no entries and no token', async () => {
    const { driver } = await many(0);
    expect(await driver.csi.ListVolumes({ max_entries: 5 })).toEqual({ entries: [], next_token: '' });
  });

  test.each(['invalid-token', '0', '99999', '-1', '1-00000000', '../..', '1e3-aaaaaaaa'])(
    'L04 the starting_token %s, which nobody gave out: ABORTED',
    async (starting_token) => {
      expect(await outcome(bench.csi.ListVolumes({ starting_token }))).toBe('ABORTED');
    },
  );

  test('L04 a token of ListSnapshots: ABORTED', async () => {
    const id = await createVolume(bench.driver);
    for (const name of ['L04 a', 'L04 b']) await bench.csi.CreateSnapshot({ name, source_volume_id: id });
    const { next_token } = await bench.csi.ListSnapshots({ max_entries: 1 });
    expect(next_token).not.toBe('');
    expect(await outcome(bench.csi.ListVolumes({ starting_token: next_token }))).toBe('ABORTED');
  });

  test('L05 the first page is deleted and a volume added between two pages: none twice, none missing', async () => {
    const { driver, ids } = await many(6);
    const first = await driver.csi.ListVolumes({ max_entries: 3 });
    for (const volume_id of idsOf(first)) await driver.csi.DeleteVolume({ volume_id });
    const added = await createVolume(driver);
    const rest = idsOf(await driver.csi.ListVolumes({ starting_token: first.next_token }));
    expect(new Set(rest).size).toBe(rest.length);
    expect(rest).toEqual(expect.arrayContaining(ids.filter((id) => !idsOf(first).includes(id))));
    expect(rest.filter((id) => idsOf(first).includes(id))).toEqual([]);
    expect([...idsOf(first), ...ids, added]).toEqual(expect.arrayContaining(rest));
  });

  test('L05 a token outlives a restart', async () => {
    const { driver, ids } = await many(4);
    const first = await driver.csi.ListVolumes({ max_entries: 2 });
    await driver.stop();
    const again = await bench.start({ dataDir: driver.dataDir });
    const rest = await again.csi.ListVolumes({ starting_token: first.next_token });
    expect([...idsOf(first), ...idsOf(rest)].sort()).toEqual(ids.sort());
  });

  test('L06 published_node_ids: exactly the nodes; an empty list when there is none', async () => {
    const { driver, ids } = await many(2);
    await bench.start({ profile: 'node', nodeId: 'node-2', dataDir: driver.dataDir });
    const [attached = '', free = ''] = ids;
    for (const node_id of ['node-1', 'node-2'])
      await driver.csi.ControllerPublishVolume({
        volume_id: attached,
        node_id,
        volume_capability: mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' }),
      });
    const { entries } = await driver.csi.ListVolumes();
    const nodes = Object.fromEntries(
      entries.map(({ volume, status }) => [volume?.volume_id, status?.published_node_ids.sort()]),
    );
    expect(nodes).toEqual({ [attached]: ['node-1', 'node-2'], [free]: [] });
  });

  test('L06 without LIST_VOLUMES_PUBLISHED_NODES: no node ids', async () => {
    const { driver, ids } = await many(1, { capabilities: '-LIST_VOLUMES_PUBLISHED_NODES' });
    await driver.csi.ControllerPublishVolume({
      volume_id: ids[0] ?? '',
      node_id: 'node-1',
      volume_capability: mountCapability(),
    });
    const { entries } = await driver.csi.ListVolumes();
    expect(entries.map((entry) => entry.status?.published_node_ids)).toEqual([[]]);
  });

  test('L07 VOLUME_CONDITION: every entry tells it, with a message; without it none does', async () => {
    const on = await many(1);
    const [entry] = (await on.driver.csi.ListVolumes()).entries;
    expect(entry?.status?.volume_condition).toEqual({
      abnormal: false,
      message: expect.stringMatching(/\S+ \S+/),
    });
    const off = await many(1, { capabilities: '-VOLUME_CONDITION' });
    const [silent] = (await off.driver.csi.ListVolumes()).entries;
    expect(silent?.status?.volume_condition ?? null).toBeNull();
  });

  test('entries carry capacity, context and source as at creation', async () => {
    const driver = await bench.start();
    const { volume } = await driver.csi.CreateVolume({
      name: 'v',
      volume_capabilities: [mountCapability()],
    });
    const { entries } = await driver.csi.ListVolumes();
    expect(entries.map((entry) => entry.volume)).toEqual([volume]);
  });
});
