import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { blockCapability, createVolume, dispose, MIB, mountCapability, use } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const volume_capabilities = [mountCapability()];
const bytes = (mebibytes: number) => `${mebibytes * MIB}`;

conformance('CreateVolume from a source', (bench) => {
  let last = 0;
  const create = (source: object | null, fields: object = {}) =>
    bench.csi.CreateVolume({
      name: `copy-${++last}`,
      volume_capabilities,
      volume_content_source: source,
      ...fields,
    });
  const snapshotOf = async (source_volume_id: string, parameters: Record<string, string> = {}) => {
    const { snapshot } = await bench.csi.CreateSnapshot({
      name: `cut-${++last}`,
      source_volume_id,
      parameters,
    });
    return snapshot?.snapshot_id ?? '';
  };
  /** The same volume as both kinds of source. */
  const sources = async (fields: { size?: number } = {}) => {
    const volume_id = await createVolume(bench.driver, fields);
    const snapshot_id = await snapshotOf(volume_id);
    return [{ snapshot: { snapshot_id } }, { volume: { volume_id } }];
  };

  test('C31 a snapshot without CREATE_DELETE_SNAPSHOT, a volume without CLONE_VOLUME: INVALID_ARGUMENT', async () => {
    const noSnapshots = await bench.start({ capabilities: '-CREATE_DELETE_SNAPSHOT' });
    const noClones = await bench.start({ capabilities: '-CLONE_VOLUME' });
    const snapshot = { snapshot: { snapshot_id: 'unknown' } };
    const volume = { volume: { volume_id: 'unknown' } };
    const from = (driver: typeof noClones, volume_content_source: object) =>
      outcome(driver.csi.CreateVolume({ name: 'v', volume_capabilities, volume_content_source }));
    expect(await from(noSnapshots, snapshot)).toBe('INVALID_ARGUMENT');
    expect(await from(noClones, volume)).toBe('INVALID_ARGUMENT');
    expect(await from(noSnapshots, volume)).toBe('NOT_FOUND');
    expect(await from(noClones, snapshot)).toBe('NOT_FOUND');
  });

  test.each([
    ['no type', {}],
    ['a snapshot without id', { snapshot: {} }],
    ['a volume without id', { volume: { volume_id: '' } }],
    ['a snapshot id of 129 bytes', { snapshot: { snapshot_id: 'x'.repeat(129) } }],
    ['a volume id of 129 bytes', { volume: { volume_id: 'x'.repeat(129) } }],
  ])('C32 a source with %s: INVALID_ARGUMENT', async (_what, source) => {
    expect(await outcome(create(source))).toBe('INVALID_ARGUMENT');
  });

  test.each([
    ['snapshot', { snapshot: { snapshot_id: 'unknown' } }],
    ['volume', { volume: { volume_id: 'unknown' } }],
  ])('C35 an unknown %s: NOT_FOUND', async (_what, source) => {
    expect(await outcome(create(source))).toBe('NOT_FOUND');
  });

  test('C33 limit_bytes below the size of the source: OUT_OF_RANGE', async () => {
    for (const source of await sources()) {
      const capacity_range = { limit_bytes: bytes(63) };
      expect(await outcome(create(source, { capacity_range }))).toBe('OUT_OF_RANGE');
      const both = { required_bytes: bytes(1), limit_bytes: bytes(63) };
      expect(await outcome(create(source, { capacity_range: both }))).toBe('OUT_OF_RANGE');
    }
  });

  test('C34 required_bytes above the size of the source: as large as required', async () => {
    for (const source of await sources()) {
      const { volume } = await create(source, { capacity_range: { required_bytes: bytes(90) } });
      expect(volume?.capacity_bytes).toBe(bytes(90));
    }
  });

  test('a copy is never smaller than its source, and names it', async () => {
    for (const source of await sources({ size: 96 * MIB }))
      for (const capacity_range of [null, { required_bytes: bytes(1) }, { limit_bytes: bytes(200) }]) {
        const { volume } = await create(source, { capacity_range });
        expect(Number(volume?.capacity_bytes)).toBeGreaterThanOrEqual(96 * MIB);
        expect(volume?.content_source).toMatchObject(source);
        const got = await bench.csi.ControllerGetVolume({ volume_id: volume?.volume_id ?? '' });
        expect(got.volume?.content_source).toMatchObject(source);
      }
  });

  test('C36 a snapshot that is not ready to use: FAILED_PRECONDITION', async () => {
    const snapshot_id = await snapshotOf(await createVolume(bench.driver), { readyAfter: '1h' });
    expect(await outcome(create({ snapshot: { snapshot_id } }))).toBe('FAILED_PRECONDITION');
  });

  test('C37 a source whose backend the parameters exclude: INVALID_ARGUMENT', async () => {
    if (!bench.target.real) return;
    for (const source of await sources()) {
      const parameters = { backend: 'directory' };
      expect(await outcome(create(source, { parameters }))).toBe('INVALID_ARGUMENT');
    }
  });

  test('a member of a group snapshot is a source like any other', async () => {
    const id = await createVolume(bench.driver);
    const { group_snapshot } = await bench.csi.CreateVolumeGroupSnapshot({
      name: 'source group',
      source_volume_ids: [id],
    });
    const snapshot_id = group_snapshot?.snapshots[0]?.snapshot_id ?? '';
    expect(await outcome(create({ snapshot: { snapshot_id } }))).toBe('OK');
  });

  test('a copy may be a raw block volume', async () => {
    for (const source of await sources())
      expect(await outcome(create(source, { volume_capabilities: [blockCapability()] }))).toBe('OK');
  });

  test('the copy holds what the source held, and goes its own way', async () => {
    if (!bench.target.real) return;
    const origin = await use(bench.driver);
    await fs.writeFile(path.join(origin.target, 'word'), 'before');
    const snapshot_id = await snapshotOf(origin.id);
    const clone = await use(bench.driver, { source: { volume: { volume_id: origin.id } } });
    await fs.writeFile(path.join(origin.target, 'word'), 'after');
    const restored = await use(bench.driver, { source: { snapshot: { snapshot_id } } });
    for (const { target } of [clone, restored])
      expect(await fs.readFile(path.join(target, 'word'), 'utf8')).toBe('before');
    for (const used of [origin, clone, restored]) await dispose(bench.driver, used);
  });
});
