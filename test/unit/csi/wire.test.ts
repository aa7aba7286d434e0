import { bytesField, codec, fromBytes, mapEntry, request, response, varintField } from './wire';

/** What arrives when a client, friendly or not, sends bytes: the facts that the field rules and the redactor rest on. */
describe('decoding', () => {
  test('unknown fields are ignored', () => {
    const bytes = Buffer.concat([
      bytesField(1, 'v1'),
      bytesField(2000, 'from the future'),
      varintField(2001, 7n),
    ]);
    expect(fromBytes('DeleteVolume', bytes)).toEqual({ volume_id: 'v1', secrets: {} });
  });

  test('absent scalars are at their default, absent messages are null', () => {
    expect(request('ControllerExpandVolume', {})).toEqual({
      volume_id: '',
      capacity_range: null,
      secrets: {},
      volume_capability: null,
    });
  });

  test('an empty mount {} is not an absent one', () => {
    const { volume_capability } = request('NodeStageVolume', { volume_capability: { mount: {} } });
    expect(volume_capability).toEqual({
      access_type: 'mount',
      mount: { fs_type: '', mount_flags: [], volume_mount_group: '' },
      access_mode: null,
    });
    expect(request('NodeStageVolume', { volume_capability: {} }).volume_capability).toEqual({
      access_mode: null,
    });
  });

  test('both arms of a oneof arrive when both were sent', () => {
    const capability = Buffer.concat([bytesField(1, ''), bytesField(2, '')]);
    const { volume_capability } = fromBytes('NodeStageVolume', bytesField(4, capability));
    expect(volume_capability).toMatchObject({ block: {}, mount: { fs_type: '' } });
  });

  test('an unknown enum number survives', () => {
    const capability = bytesField(3, varintField(1, 99n));
    expect(fromBytes('NodeStageVolume', bytesField(4, capability)).volume_capability).toEqual({
      access_mode: { mode: 99 },
    });
  });

  test('invalid UTF-8 becomes U+FFFD', () => {
    const bytes = bytesField(1, Buffer.from([0x76, 0xff, 0xc0]));
    expect(fromBytes('DeleteVolume', bytes).volume_id).toMatch(/^v\uFFFD+$/);
  });

  test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    'int64 %s is exact',
    (value) => {
      const range = varintField(1, BigInt(value));
      expect(fromBytes('CreateVolume', bytesField(2, range)).capacity_range).toEqual({
        required_bytes: value,
        limit_bytes: '0',
      });
      expect(response('ControllerExpandVolume', { capacity_bytes: value })).toMatchObject({
        capacity_bytes: value,
      });
    },
  );

  test('a map key __proto__ is an own key and changes no prototype', () => {
    const { parameters } = fromBytes('CreateVolume', mapEntry(4, '__proto__', 'polluted'));
    expect(Object.keys(parameters)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(parameters)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('a message that ends inside a number does not decode', () => {
    expect(() => fromBytes('ListVolumes', Buffer.from([0x08, 0x80]))).toThrow(/out of range/);
  });

  test('a string longer than its message is taken as far as it goes', () => {
    expect(fromBytes('DeleteVolume', bytesField(1, 'v12').subarray(0, 4)).volume_id).toBe('v1');
  });

  test('an unknown group is passed over, one that never ends does not decode', () => {
    const group = Buffer.from([0x7b, 0x08, 0x01, 0x7c]);
    const deep = Buffer.alloc(1_000, 0x7b);
    expect(fromBytes('DeleteVolume', Buffer.concat([group, bytesField(1, 'v1')])).volume_id).toBe('v1');
    expect(() => fromBytes('DeleteVolume', group.subarray(0, 3))).toThrow(/out of range/);
    expect(() => fromBytes('DeleteVolume', deep)).toThrow(/nesting depth/);
  });
});

describe('encoding', () => {
  test('what is longer than a length of one byte can tell arrives whole', () => {
    const long = 'x'.repeat(70_000);
    const volume_capability = { mount: { fs_type: 'y'.repeat(200), mount_flags: [long] } };
    expect(request('NodeStageVolume', { volume_capability }).volume_capability?.mount).toMatchObject(
      volume_capability.mount,
    );
  });

  test('int64 may be given as bigint or number, enums by name', () => {
    const fields = { capacity_bytes: 5n as unknown as string };
    expect(response('ControllerExpandVolume', fields)).toMatchObject({ capacity_bytes: '5' });
    expect(response('ControllerExpandVolume', { capacity_bytes: 7 })).toMatchObject({ capacity_bytes: '7' });
    const volume_capability = { access_mode: { mode: 'MULTI_NODE_MULTI_WRITER' as const } };
    expect(request('NodeStageVolume', { volume_capability }).volume_capability?.access_mode).toEqual({
      mode: 5,
    });
  });

  test.each([
    ['a list that is none', 'ListVolumes', { entries: 'v1' }],
    ['a message that is none', 'CreateVolume', { volume: 'v1' }],
  ] as const)('%s is refused, not sent as something else', (_, method, fields) => {
    expect(() => codec(method).responseSerialize(fields)).toThrow(/expected/);
  });
});
