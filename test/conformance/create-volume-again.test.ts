import { blockCapability, MIB, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const first = {
  capacity_range: { required_bytes: `${64 * MIB}`, limit_bytes: `${128 * MIB}` },
  volume_capabilities: [mountCapability({ fsType: 'ext4' })],
  parameters: { groupable: 'true' },
  mutable_parameters: { readAheadKiB: '256' },
};

conformance('CreateVolume with the name of a volume', (bench) => {
  let last = 0;
  /** Makes a volume of a new name; what comes back asks for that name again. */
  const made = async (fields: object = {}) => {
    const name = `again-${++last}`;
    const { volume } = await bench.csi.CreateVolume({ ...first, ...fields, name });
    return {
      id: volume?.volume_id ?? '',
      again: (other: object = {}) => bench.csi.CreateVolume({ ...first, ...fields, ...other, name }),
    };
  };

  test('C14 the same request: the same volume', async () => {
    const { id, again } = await made();
    const twice = await Promise.all([again(), again()].map((call) => call.catch((error) => error)));
    for (const answer of twice)
      if (answer instanceof Error) expect(answer.message).toMatch(/pending/);
      else expect(answer.volume.volume_id).toBe(id);
    expect((await again()).volume?.volume_id).toBe(id);
  });

  test.each([
    ['a range that the size is in', { required_bytes: `${MIB}`, limit_bytes: `${500 * MIB}` }],
    ['no range', null],
    ['only a limit at the size', { limit_bytes: `${64 * MIB}` }],
  ])('C14 %s: the same volume', async (_what, capacity_range) => {
    const { id, again } = await made();
    expect((await again({ capacity_range })).volume?.volume_id).toBe(id);
  });

  test('C15 limit_bytes below the existing size: ALREADY_EXISTS', async () => {
    const { again } = await made();
    const capacity_range = { limit_bytes: `${64 * MIB - 1}` };
    expect(await outcome(again({ capacity_range }))).toBe('ALREADY_EXISTS');
  });

  test('C15 required_bytes above the existing size: ALREADY_EXISTS', async () => {
    const { again } = await made();
    const capacity_range = { required_bytes: `${64 * MIB + 1}` };
    expect(await outcome(again({ capacity_range }))).toBe('ALREADY_EXISTS');
  });

  test('C16 another access type: ALREADY_EXISTS', async () => {
    const { again } = await made();
    expect(await outcome(again({ volume_capabilities: [blockCapability()] }))).toBe('ALREADY_EXISTS');
    const both = [mountCapability({ fsType: 'ext4' }), blockCapability()];
    expect(await outcome(again({ volume_capabilities: both }))).toBe('ALREADY_EXISTS');
  });

  test('C16 another fs_type: ALREADY_EXISTS', async () => {
    const { again } = await made();
    const volume_capabilities = [mountCapability({ fsType: 'xfs' })];
    expect(await outcome(again({ volume_capabilities }))).toBe('ALREADY_EXISTS');
  });

  test.each([
    ['another value', { groupable: 'false' }],
    ['a key fewer', {}],
    ['a key more', { groupable: 'true', scenario: 'slow' }],
  ])('C17 other parameters (%s): ALREADY_EXISTS', async (_what, parameters) => {
    const { again } = await made();
    expect(await outcome(again({ parameters }))).toBe('ALREADY_EXISTS');
  });

  test.each([
    ['another value', { readAheadKiB: '512' }],
    ['a key fewer', {}],
    ['a key more', { readAheadKiB: '256', deletionProtection: 'false' }],
  ])('C18 other mutable_parameters (%s): ALREADY_EXISTS', async (_what, mutable_parameters) => {
    const { again } = await made();
    expect(await outcome(again({ mutable_parameters }))).toBe('ALREADY_EXISTS');
  });

  test('C18 the same mutable_parameters, though ControllerModifyVolume changed them since: the same volume', async () => {
    const { id, again } = await made();
    await bench.csi.ControllerModifyVolume({ volume_id: id, mutable_parameters: { readAheadKiB: '1024' } });
    expect((await again()).volume?.volume_id).toBe(id);
  });

  test('a volume that has grown since is not the one that is asked for: ALREADY_EXISTS beyond the limit only', async () => {
    const { id, again } = await made();
    const grow = (mebibytes: number) =>
      bench.csi.ControllerExpandVolume({
        volume_id: id,
        capacity_range: { required_bytes: `${mebibytes * MIB}` },
      });
    await grow(100);
    expect((await again()).volume).toMatchObject({ volume_id: id, capacity_bytes: `${100 * MIB}` });
    await grow(200);
    expect(await outcome(again())).toBe('ALREADY_EXISTS');
  });

  test('C19 another content source, another kind of it, or none: ALREADY_EXISTS', async () => {
    const origin = await made();
    const other = await made();
    const { snapshot } = await bench.csi.CreateSnapshot({ name: 'C19', source_volume_id: origin.id });
    const fromSnapshot = { snapshot: { snapshot_id: snapshot?.snapshot_id ?? '' } };
    const fromVolume = { volume: { volume_id: origin.id } };
    const clone = await made({ volume_content_source: fromVolume });
    const restored = await made({ volume_content_source: fromSnapshot });
    for (const { again } of [clone, restored]) {
      expect(await outcome(again())).toBe('OK');
      expect(await outcome(again({ volume_content_source: null }))).toBe('ALREADY_EXISTS');
      expect(await outcome(again({ volume_content_source: { volume: { volume_id: other.id } } }))).toBe(
        'ALREADY_EXISTS',
      );
    }
    expect(await outcome(clone.again({ volume_content_source: fromSnapshot }))).toBe('ALREADY_EXISTS');
    expect(await outcome(restored.again({ volume_content_source: fromVolume }))).toBe('ALREADY_EXISTS');
    expect(await outcome(origin.again({ volume_content_source: fromSnapshot }))).toBe('ALREADY_EXISTS');
  });

  test('C19 the same source that was deleted since: the same volume', async () => {
    const origin = await made();
    const { snapshot } = await bench.csi.CreateSnapshot({ name: 'C19 gone', source_volume_id: origin.id });
    const snapshot_id = snapshot?.snapshot_id ?? '';
    const restored = await made({ volume_content_source: { snapshot: { snapshot_id } } });
    await bench.csi.DeleteSnapshot({ snapshot_id });
    expect((await restored.again()).volume?.volume_id).toBe(restored.id);
  });

  test('C21 other secrets: the same volume', async () => {
    const { id, again } = await made({ secrets: { user: 'a' } });
    expect((await again({ secrets: { user: 'b', more: 'c' } })).volume?.volume_id).toBe(id);
    expect((await again({ secrets: {} })).volume?.volume_id).toBe(id);
  });

  test('C22 after DeleteVolume: a fresh volume', async () => {
    const { id, again } = await made();
    await bench.csi.DeleteVolume({ volume_id: id });
    const other = {
      capacity_range: { required_bytes: `${32 * MIB}` },
      parameters: {},
      mutable_parameters: {},
      volume_capabilities: [blockCapability()],
    };
    const { volume } = await again(other);
    expect(volume?.capacity_bytes).toBe(`${32 * MIB}`);
    expect(await outcome(again())).toBe('ALREADY_EXISTS');
  });

  test("Kubernetes' own keys say nothing about the volume", async () => {
    const { id, again } = await made();
    const parameters = { ...first.parameters, 'csi.storage.k8s.io/pvc/name': 'claim' };
    expect((await again({ parameters })).volume?.volume_id).toBe(id);
  });

  test('INVALID_ARGUMENT comes before ALREADY_EXISTS', async () => {
    const { again } = await made();
    expect(await outcome(again({ parameters: { nonsense: '1' } }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(again({ mutable_parameters: { XXX_FakeKey: '1' } }))).toBe('INVALID_ARGUMENT');
  });
});
