import { createVolume, MIB, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

let last = 0;
const unique = () => `snapshot-${++last}`;

conformance('CreateSnapshot', (bench) => {
  const create = (fields: object) => bench.csi.CreateSnapshot({ name: unique(), ...fields });

  test('S01 an unknown source_volume_id: NOT_FOUND', async () => {
    expect(await outcome(create({ source_volume_id: 'unknown' }))).toBe('NOT_FOUND');
  });

  test('S02 the snapshot: id, source, size, instant, ready', async () => {
    const source_volume_id = await createVolume(bench.driver, { size: 80 * MIB });
    const before = Math.floor(Date.now() / 1000);
    const { snapshot } = await create({ source_volume_id });
    expect(snapshot).toMatchObject({
      source_volume_id,
      size_bytes: `${80 * MIB}`,
      ready_to_use: true,
      group_snapshot_id: '',
    });
    expect(snapshot?.snapshot_id).toMatch(/^.{1,128}$/);
    const seconds = Number(snapshot?.creation_time?.seconds);
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(Date.now() / 1000 + 1);
  });

  test('S02 the same name and source: the same snapshot, whatever its parameters and secrets', async () => {
    const call = { name: unique(), source_volume_id: await createVolume(bench.driver) };
    const first = await create(call);
    expect(await create(call)).toEqual(first);
    expect(await create({ ...call, secrets: { a: 'b' } })).toEqual(first);
    expect(await create({ ...call, parameters: { trackBlocks: 'false' } })).toEqual(first);
  });

  test('S03 post-processing: OK with ready_to_use false at once, true on a later repeat', async () => {
    let now = Date.now();
    const clock = {
      now: () => now,
      monotonic: () => now,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    };
    const { csi } = await bench.start({ clock });
    const { volume } = await csi.CreateVolume({ name: 'v', volume_capabilities: [mountCapability()] });
    const source_volume_id = volume?.volume_id ?? '';
    const cut = () =>
      csi.CreateSnapshot({ name: 'slow', source_volume_id, parameters: { readyAfter: '90s' } });
    const { snapshot } = await cut();
    const snapshot_id = snapshot?.snapshot_id ?? '';
    const reports = async () => [
      (await cut()).snapshot?.ready_to_use,
      (await csi.GetSnapshot({ snapshot_id })).snapshot?.ready_to_use,
      (await csi.ListSnapshots({ snapshot_id })).entries[0]?.snapshot?.ready_to_use,
    ];
    expect(snapshot?.ready_to_use).toBe(false);
    now += 89_000;
    expect(await reports()).toEqual([false, false, false]);
    now += 1_000;
    expect(await reports()).toEqual([true, true, true]);
    expect((await cut()).snapshot?.creation_time).toEqual(snapshot?.creation_time);
  });

  test('S04 the same name, another source: ALREADY_EXISTS', async () => {
    const name = unique();
    await create({ name, source_volume_id: await createVolume(bench.driver) });
    const other = await createVolume(bench.driver);
    expect(await outcome(create({ name, source_volume_id: other }))).toBe('ALREADY_EXISTS');
    expect(await outcome(create({ name, source_volume_id: 'unknown' }))).toBe('ALREADY_EXISTS');
  });

  test.each([
    ['empty', ''],
    ['of 129 bytes', 'x'.repeat(129)],
    ['with U+0001', 'a\x01'],
    ['with U+007F', 'a\x7f'],
    ['with U+0085', 'a\u0085'],
  ])('S05 a name %s: INVALID_ARGUMENT, though the source is unknown', async (_what, name) => {
    expect(await outcome(create({ name, source_volume_id: 'unknown' }))).toBe('INVALID_ARGUMENT');
  });

  test('S05 a name of 128 bytes, and one with a TAB: OK', async () => {
    const source_volume_id = await createVolume(bench.driver);
    for (const name of ['🚀'.repeat(32), 'a\tb'])
      expect(await outcome(create({ name, source_volume_id }))).toBe('OK');
  });

  test('S05 no source: INVALID_ARGUMENT', async () => {
    expect(await outcome(create({}))).toBe('INVALID_ARGUMENT');
  });

  test('S06 restored with a limit below size_bytes: OUT_OF_RANGE; with one at it: OK', async () => {
    const { snapshot } = await create({ source_volume_id: await createVolume(bench.driver) });
    const size = BigInt(snapshot?.size_bytes ?? 0);
    expect(size).toBeGreaterThan(0n);
    const restore = (limit_bytes: bigint) =>
      outcome(
        bench.csi.CreateVolume({
          name: `restore ${limit_bytes}`,
          volume_capabilities: [mountCapability()],
          capacity_range: { limit_bytes: `${limit_bytes}` },
          volume_content_source: { snapshot: { snapshot_id: snapshot?.snapshot_id ?? '' } },
        }),
      );
    expect([await restore(size - 1n), await restore(size)]).toEqual(['OUT_OF_RANGE', 'OK']);
  });

  test('S06 size_bytes stays, though the source grows', async () => {
    const source_volume_id = await createVolume(bench.driver);
    const { snapshot } = await create({ source_volume_id });
    const capacity_range = { required_bytes: `${100 * MIB}` };
    await bench.csi.ControllerExpandVolume({ volume_id: source_volume_id, capacity_range });
    const got = await bench.csi.GetSnapshot({ snapshot_id: snapshot?.snapshot_id ?? '' });
    expect(got.snapshot).toEqual(snapshot);
  });

  test('S07 no space: RESOURCE_EXHAUSTED, and nothing is left', async () => {
    const driver = await bench.start({ capacityBytes: BigInt(100 * MIB) });
    const source_volume_id = await createVolume(driver);
    const cut = () => outcome(driver.csi.CreateSnapshot({ name: 's', source_volume_id }));
    expect(await cut()).toBe('RESOURCE_EXHAUSTED');
    expect((await driver.csi.ListSnapshots()).entries).toEqual([]);
    expect((await driver.csi.GetCapacity()).available_capacity).toBe(`${36 * MIB}`);
  });

  test.each([
    ['an unknown key', { flavour: 'mint' }],
    ['a bad value', { readyAfter: 'soon' }],
  ])('parameters with %s: INVALID_ARGUMENT', async (_what, parameters) => {
    const source_volume_id = await createVolume(bench.driver);
    expect(await outcome(create({ source_volume_id, parameters }))).toBe('INVALID_ARGUMENT');
  });

  test('parameters that Kubernetes adds are taken', async () => {
    const parameters = { 'csi.storage.k8s.io/volumesnapshot/name': 's' };
    const source_volume_id = await createVolume(bench.driver);
    expect(await outcome(create({ source_volume_id, parameters }))).toBe('OK');
  });
});
