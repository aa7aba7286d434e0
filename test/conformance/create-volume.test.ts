import { blockCapability, MIB, MODE, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const capabilities = [mountCapability()];
const bytes = (mebibytes: number) => `${mebibytes * MIB}`;

conformance('CreateVolume', (bench) => {
  const create = (fields: object) => bench.csi.CreateVolume({ volume_capabilities: capabilities, ...fields });

  test.each([
    ['TAB, LF and CR', 'a\tb\nc\rd'],
    ['emoji', 'volume 🚀🐳'],
    ['combining marks', 'e\u0301a\u0308\u20dd'],
    ['128 bytes of them', '🚀'.repeat(32)],
    ['what looks like a path', '../../etc/passwd'],
    ['the names of JavaScript', '__proto__'],
  ])('C02 a name of %s is taken', async (_what, name) => {
    const first = await create({ name });
    expect(first.volume?.volume_id).toMatch(/\S/);
    expect(Buffer.byteLength(first.volume?.volume_id ?? '')).toBeLessThanOrEqual(128);
    expect((await create({ name })).volume).toEqual(first.volume);
  });

  test.each([
    ['empty', ''],
    ['of 129 bytes', 'x'.repeat(129)],
    ['of 33 emoji', '🚀'.repeat(33)],
    ['with U+0000', 'a\0b'],
    ['with U+0008', 'a\bb'],
    ['with U+000B', 'a\vb'],
    ['with U+001F', 'a\x1fb'],
    ['with U+007F', 'a\x7fb'],
    ['with U+009F', 'a\x9fb'],
  ])('C01 a name %s is INVALID_ARGUMENT', async (_what, name) => {
    expect(await outcome(create({ name }))).toBe('INVALID_ARGUMENT');
  });

  test.each([
    ['required_bytes', { required_bytes: '-1' }],
    ['limit_bytes', { limit_bytes: '-1' }],
    ['both', { required_bytes: '-2', limit_bytes: '-1' }],
    ['limit_bytes beside a good required_bytes', { required_bytes: bytes(64), limit_bytes: '-1' }],
    ['the least int64', { required_bytes: '-9223372036854775808' }],
  ])('C03 negative: %s is INVALID_ARGUMENT', async (_what, capacity_range) => {
    expect(await outcome(create({ name: 'negative', capacity_range }))).toBe('INVALID_ARGUMENT');
  });

  test('C04 a capacity_range that says nothing is INVALID_ARGUMENT', async () => {
    const nothing = { required_bytes: '0', limit_bytes: '0' };
    expect(await outcome(create({ name: 'zero', capacity_range: nothing }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create({ name: 'zero', capacity_range: {} }))).toBe('INVALID_ARGUMENT');
  });

  test('C05 limit_bytes below required_bytes is OUT_OF_RANGE', async () => {
    const capacity_range = { required_bytes: bytes(65), limit_bytes: bytes(64) };
    expect(await outcome(create({ name: 'crossed', capacity_range }))).toBe('OUT_OF_RANGE');
  });

  test.each([
    ['below the default size', 10],
    ['above the default size', 1000],
  ])('C06 only limit_bytes, %s: a size above zero and not above it', async (_what, limit) => {
    const { volume } = await create({
      name: `limit ${limit}`,
      capacity_range: { limit_bytes: bytes(limit) },
    });
    expect(Number(volume?.capacity_bytes)).toBeGreaterThan(0);
    expect(Number(volume?.capacity_bytes)).toBeLessThanOrEqual(limit * MIB);
  });

  test('C07 without capacity_range: the default size', async () => {
    const { volume } = await create({ name: 'default size' });
    expect(volume?.capacity_bytes).toBe(bytes(64));
  });

  test('C07 the default size gives way to a largest size below it', async () => {
    const small = await bench.start({ maxVolumeBytes: BigInt(32 * MIB) });
    const { volume } = await small.csi.CreateVolume({ name: 'v', volume_capabilities: capabilities });
    expect(volume?.capacity_bytes).toBe(bytes(32));
  });

  test('C08 required equal to limit: exactly that', async () => {
    const odd = `${40 * MIB + 12345}`;
    const { volume } = await create({
      name: 'exact',
      capacity_range: { required_bytes: odd, limit_bytes: odd },
    });
    expect(volume?.capacity_bytes).toBe(odd);
  });

  test('C08 a limit that no filesystem fits below is OUT_OF_RANGE', async () => {
    const capacity_range = { limit_bytes: bytes(8) };
    const volume_capabilities = [mountCapability({ fsType: 'xfs' })];
    expect(await outcome(create({ name: 'tight', capacity_range, volume_capabilities }))).toBe(
      'OUT_OF_RANGE',
    );
  });

  test.each([
    ['without access_mode', { mount: {} }],
    ['with the mode UNKNOWN', { mount: {}, access_mode: { mode: 0 } }],
    ['with an empty access_mode', { mount: {}, access_mode: {} }],
    ['with the mode 99', { mount: {}, access_mode: { mode: 99 } }],
    ['with the mode -1', { mount: {}, access_mode: { mode: -1 } }],
  ])('C09 a capability %s is INVALID_ARGUMENT', async (_what, capability) => {
    const alone = create({ name: 'mode', volume_capabilities: [capability] });
    expect(await outcome(alone)).toBe('INVALID_ARGUMENT');
    const second = create({ name: 'mode', volume_capabilities: [mountCapability(), capability] });
    expect(await outcome(second)).toBe('INVALID_ARGUMENT');
  });

  test('C10 a capability without access_type is INVALID_ARGUMENT; an empty mount counts', async () => {
    const access_mode = { mode: MODE.SINGLE_NODE_WRITER };
    expect(await outcome(create({ name: 'type', volume_capabilities: [{ access_mode }] }))).toBe(
      'INVALID_ARGUMENT',
    );
    expect(await outcome(create({ name: 'type', volume_capabilities: [{ access_mode, mount: {} }] }))).toBe(
      'OK',
    );
  });

  test('C11 no capabilities at all, and an empty one, are INVALID_ARGUMENT', async () => {
    expect(await outcome(create({ name: 'none', volume_capabilities: [] }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(create({ name: 'none', volume_capabilities: [{}] }))).toBe('INVALID_ARGUMENT');
  });

  test.each(Object.keys(MODE) as (keyof typeof MODE)[])(
    'C12 %s is accepted while SINGLE_NODE_MULTI_WRITER is advertised',
    async (mode) => {
      for (const volume_capabilities of [[mountCapability({ mode })], [blockCapability(mode)]])
        expect(
          await outcome(create({ name: `${mode} ${!volume_capabilities[0]?.mount}`, volume_capabilities })),
        ).toBe('OK');
    },
  );

  test('C13 the two alpha modes are INVALID_ARGUMENT without SINGLE_NODE_MULTI_WRITER, the others stay', async () => {
    const { csi } = await bench.start({ capabilities: '-SINGLE_NODE_MULTI_WRITER' });
    for (const mode of Object.keys(MODE) as (keyof typeof MODE)[]) {
      const alpha = mode === 'SINGLE_NODE_SINGLE_WRITER' || mode === 'SINGLE_NODE_MULTI_WRITER';
      const call = csi.CreateVolume({ name: mode, volume_capabilities: [mountCapability({ mode })] });
      expect([mode, await outcome(call)]).toEqual([mode, alpha ? 'INVALID_ARGUMENT' : 'OK']);
    }
  });

  test('a volume may be both, mount and block', async () => {
    const volume_capabilities = [mountCapability(), blockCapability()];
    const { volume } = await create({ name: 'both types', volume_capabilities });
    const confirmed = await bench.csi.ValidateVolumeCapabilities({
      volume_id: volume?.volume_id ?? '',
      volume_capabilities,
    });
    expect(confirmed.confirmed?.volume_capabilities).toHaveLength(2);
  });

  test('capabilities that ask for two filesystems at once are INVALID_ARGUMENT', async () => {
    const volume_capabilities = [mountCapability({ fsType: 'ext4' }), mountCapability({ fsType: 'xfs' })];
    expect(
      await outcome(
        create({ name: 'two types', volume_capabilities, capacity_range: { required_bytes: bytes(400) } }),
      ),
    ).toBe('INVALID_ARGUMENT');
  });

  test('a filesystem that nobody knows is INVALID_ARGUMENT', async () => {
    const volume_capabilities = [mountCapability({ fsType: 'ntfs' })];
    expect(await outcome(create({ name: 'ntfs', volume_capabilities }))).toBe('INVALID_ARGUMENT');
  });

  test('beyond the largest size is OUT_OF_RANGE', async () => {
    const required_bytes = `${2n ** 62n + 1n}`;
    expect(await outcome(create({ name: 'huge', capacity_range: { required_bytes } }))).toBe('OUT_OF_RANGE');
  });

  test('more than the pool has is RESOURCE_EXHAUSTED, and leaves nothing', async () => {
    const { csi } = await bench.start({ capacityBytes: BigInt(100 * MIB) });
    const ask = (name: string, size: number) =>
      csi.CreateVolume({
        name,
        volume_capabilities: capabilities,
        capacity_range: { required_bytes: bytes(size) },
      });
    expect(await outcome(ask('first', 60))).toBe('OK');
    expect(await outcome(ask('second', 60))).toBe('RESOURCE_EXHAUSTED');
    expect((await csi.ListVolumes()).entries).toHaveLength(1);
    expect(await outcome(ask('second', 40))).toBe('OK');
  });

  test('C38 volume_context: small, and the same in every report', async () => {
    const { volume } = await create({ name: 'context', parameters: { scenario: 'slow' } });
    const { volume_id, volume_context } = volume ?? {};
    const size = Object.entries(volume_context ?? {}).reduce((sum, [k, v]) => sum + k.length + v.length, 0);
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThanOrEqual(4096);
    const again = await create({ name: 'context', parameters: { scenario: 'slow' } });
    expect(again.volume?.volume_context).toEqual(volume_context);
    const got = await bench.csi.ControllerGetVolume({ volume_id: volume_id ?? '' });
    expect(got.volume?.volume_context).toEqual(volume_context);
    const { entries } = await bench.csi.ListVolumes();
    const listed = entries.find((entry) => entry.volume?.volume_id === volume_id);
    expect(listed?.volume?.volume_context).toEqual(volume_context);
  });

  test('C38 volume_context holds no secret', async () => {
    const secrets = { password: 'marker-9f3a' };
    const { volume } = await create({ name: 'secret context', secrets });
    expect(JSON.stringify(volume)).not.toContain('marker-9f3a');
  });
});
