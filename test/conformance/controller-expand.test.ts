import { blockCapability, createVolume, dispose, MIB, mountCapability, use } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const bytes = (mebibytes: number) => `${mebibytes * MIB}`;
const offlineOnly = { capabilities: '-ONLINE,OFFLINE' };

conformance('ControllerExpandVolume', (bench) => {
  const expand = (volume_id: string, fields: object) =>
    bench.csi.ControllerExpandVolume({ volume_id, ...fields });
  const sizeOf = async (volume_id: string) =>
    (await bench.csi.ControllerGetVolume({ volume_id })).volume?.capacity_bytes;
  const to = (mebibytes: number) => ({ capacity_range: { required_bytes: bytes(mebibytes) } });

  test.each([
    ['no capacity_range', {}],
    ['an empty one', { capacity_range: {} }],
    ['zeros', { capacity_range: { required_bytes: '0', limit_bytes: '0' } }],
    ['a negative required_bytes', { capacity_range: { required_bytes: '-1' } }],
    ['a negative limit_bytes', { capacity_range: { required_bytes: bytes(80), limit_bytes: '-1' } }],
  ])('E01 a volume and %s: INVALID_ARGUMENT', async (_what, fields) => {
    const id = await createVolume(bench.driver);
    expect(await outcome(expand(id, fields))).toBe('INVALID_ARGUMENT');
  });

  test('E02 an unknown volume: NOT_FOUND; no id at all: INVALID_ARGUMENT', async () => {
    expect(await outcome(expand('unknown', to(1)))).toBe('NOT_FOUND');
    expect(await outcome(expand('', to(1)))).toBe('INVALID_ARGUMENT');
  });

  test.each([
    ['less', { required_bytes: bytes(1) }],
    ['as much', { required_bytes: bytes(64) }],
    ['a limit above', { limit_bytes: bytes(100) }],
  ])('E03 %s than the volume has: OK, its size as it is', async (_what, capacity_range) => {
    const id = await createVolume(bench.driver);
    expect((await expand(id, { capacity_range })).capacity_bytes).toBe(bytes(64));
    expect(await sizeOf(id)).toBe(bytes(64));
  });

  test('E04 more: exactly as much as required, in every report; again: the same', async () => {
    const id = await createVolume(bench.driver);
    const capacity_range = { required_bytes: `${80 * MIB + 1}`, limit_bytes: bytes(100) };
    const first = await expand(id, { capacity_range });
    expect(first).toEqual({ capacity_bytes: `${80 * MIB + 1}`, node_expansion_required: true });
    expect(await expand(id, { capacity_range })).toEqual(first);
    expect(await sizeOf(id)).toBe(`${80 * MIB + 1}`);
  });

  test('E05 OFFLINE only, the volume published: FAILED_PRECONDITION; OK after it is unpublished', async () => {
    const driver = await bench.start(offlineOnly);
    const used = await use(driver);
    const grow = () =>
      driver.csi.ControllerExpandVolume({
        volume_id: used.id,
        capacity_range: { required_bytes: bytes(80) },
      });
    expect(await outcome(grow())).toBe('FAILED_PRECONDITION');
    await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    expect(await outcome(grow())).toBe('FAILED_PRECONDITION');
    await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    expect(await outcome(grow())).toBe('FAILED_PRECONDITION');
    await driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
    expect((await grow()).capacity_bytes).toBe(bytes(80));
  });

  test('E05 OFFLINE only, large enough already: OK though it is published', async () => {
    const driver = await bench.start(offlineOnly);
    const used = await use(driver);
    const call = driver.csi.ControllerExpandVolume({
      volume_id: used.id,
      capacity_range: { required_bytes: bytes(64) },
    });
    expect((await call).capacity_bytes).toBe(bytes(64));
    await dispose(driver, used);
  });

  test('E05 ONLINE, the volume published: OK', async () => {
    const used = await use(bench.driver);
    expect((await expand(used.id, to(80))).capacity_bytes).toBe(bytes(80));
    await dispose(bench.driver, used);
  });

  test.each([
    ['limit_bytes below the size', { limit_bytes: bytes(63) }],
    ['required_bytes above limit_bytes', { required_bytes: bytes(90), limit_bytes: bytes(80) }],
    ['more than any volume may have', { required_bytes: `${2n ** 62n + 1n}` }],
  ])('E06 %s: OUT_OF_RANGE, the size unchanged', async (_what, capacity_range) => {
    const id = await createVolume(bench.driver);
    expect(await outcome(expand(id, { capacity_range }))).toBe('OUT_OF_RANGE');
    expect(await sizeOf(id)).toBe(bytes(64));
  });

  test('E07 a capability that the volume cannot serve: INVALID_ARGUMENT; one it can: OK', async () => {
    const id = await createVolume(bench.driver);
    const wrong = { ...to(80), volume_capability: blockCapability() };
    expect(await outcome(expand(id, wrong))).toBe('INVALID_ARGUMENT');
    expect(await outcome(expand(id, { ...wrong, volume_capability: {} }))).toBe('INVALID_ARGUMENT');
    expect(await sizeOf(id)).toBe(bytes(64));
    expect(await outcome(expand(id, { ...wrong, volume_capability: mountCapability() }))).toBe('OK');
  });

  test('E08 the node lacks EXPAND_VOLUME: node_expansion_required is false', async () => {
    const driver = await bench.start({ capabilities: '-node.EXPAND_VOLUME' });
    const volume_id = await createVolume(driver);
    for (const size of [64, 80]) {
      const answer = await driver.csi.ControllerExpandVolume({
        volume_id,
        capacity_range: { required_bytes: bytes(size) },
      });
      expect(answer).toEqual({ capacity_bytes: bytes(size), node_expansion_required: false });
    }
  });

  test('more than the pool has: RESOURCE_EXHAUSTED, the size unchanged', async () => {
    const driver = await bench.start({ capacityBytes: BigInt(100 * MIB) });
    const volume_id = await createVolume(driver);
    const grow = (size: number) =>
      outcome(
        driver.csi.ControllerExpandVolume({ volume_id, capacity_range: { required_bytes: bytes(size) } }),
      );
    expect([await grow(101), await grow(100)]).toEqual(['RESOURCE_EXHAUSTED', 'OK']);
  });
});
