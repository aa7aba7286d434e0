import { redactMessage, redactRequest, redactResponse, STRIPPED } from '../../../src/csi/redact';
import { fromBytes, mapEntry, request, response } from './wire';

describe('redactRequest', () => {
  test('strips the value of every secret and keeps its key', () => {
    const plain = redactRequest(
      'CreateVolume',
      request('CreateVolume', { name: 'v', secrets: { user: 'admin', password: 'hunter2' } }),
    );
    expect(plain).toEqual({ name: 'v', secrets: { user: STRIPPED, password: STRIPPED } });
  });

  test('strips every mount flag wherever a capability occurs, and nothing else of it', () => {
    const capability = {
      mount: { fs_type: 'ext4', mount_flags: ['noatime', 'password=x'] },
      access_mode: { mode: 1 as const },
    };
    const stripped = {
      mount: { fs_type: 'ext4', mount_flags: [STRIPPED, STRIPPED] },
      access_mode: { mode: 'SINGLE_NODE_WRITER' },
    };
    const single = request('NodeStageVolume', { volume_id: 'v', volume_capability: capability });
    expect(redactRequest('NodeStageVolume', single)).toEqual({ volume_id: 'v', volume_capability: stripped });
    const repeated = request('GetCapacity', { volume_capabilities: [capability, capability] });
    expect(redactRequest('GetCapacity', repeated)).toEqual({ volume_capabilities: [stripped, stripped] });
    const confirmed = { confirmed: { volume_capabilities: [capability] } };
    expect(redactResponse('ValidateVolumeCapabilities', confirmed)).toEqual({
      confirmed: { volume_capabilities: [stripped] },
    });
  });

  test('strips service-account tokens from contexts and keeps the pod', () => {
    const context = {
      'csi.storage.k8s.io/pod.name': 'web-0',
      'csi.storage.k8s.io/serviceAccount.name': 'default',
      'csi.storage.k8s.io/serviceAccount.tokens': '{"":{"token":"eyJhbGci"}}',
    };
    const kept = { ...context, 'csi.storage.k8s.io/serviceAccount.tokens': STRIPPED };
    const publish = request('NodePublishVolume', { volume_context: context, publish_context: context });
    expect(redactRequest('NodePublishVolume', publish)).toEqual({
      volume_context: kept,
      publish_context: kept,
    });
    const listed = { entries: [{ volume: { volume_id: 'v', volume_context: context } }] };
    expect(redactResponse('ListVolumes', listed)).toEqual({
      entries: [{ volume: { volume_id: 'v', volume_context: kept } }],
    });
  });

  test('leaves out what is empty or at its default, but not an empty message that is there', () => {
    const bare = request('NodeStageVolume', { volume_capability: { mount: {}, access_mode: { mode: 0 } } });
    expect(redactRequest('NodeStageVolume', bare)).toEqual({
      volume_capability: { mount: {}, access_mode: {} },
    });
    expect(redactRequest('ListVolumes', request('ListVolumes', {}))).toEqual({});
    const offset = request('GetMetadataDelta', { starting_offset: '0', max_results: 0 });
    expect(redactRequest('GetMetadataDelta', offset)).toEqual({});
  });

  test('shows an enum number without a name as it is', () => {
    const plain = redactMessage('csi.v1.VolumeCapability.AccessMode', { mode: 99 });
    expect(plain).toEqual({ mode: 99 });
  });

  test('keeps int64 exact, as decimal string', () => {
    const range = { required_bytes: '9007199254740993' };
    const create = request('CreateVolume', { capacity_range: range });
    expect(redactRequest('CreateVolume', create)).toEqual({ capacity_range: range });
  });

  test('cuts strings above 4 KiB, keys included, and says how much is missing', () => {
    const long = 'x'.repeat(5000);
    const cut = `${'x'.repeat(4096)}… (904 characters cut)`;
    const create = request('CreateVolume', {
      name: long,
      parameters: { [long]: long, short: 'y'.repeat(4096) },
    });
    expect(redactRequest('CreateVolume', create)).toEqual({
      name: cut,
      parameters: { [cut]: cut, short: 'y'.repeat(4096) },
    });
  });

  test('counts list elements and map entries beyond a thousand', () => {
    const ids = Array.from({ length: 1003 }, (_, i) => `v${i}`);
    const group = request('CreateVolumeGroupSnapshot', {
      source_volume_ids: ids,
      parameters: Object.fromEntries(ids.map((id) => [id, id])),
    });
    const plain = redactRequest('CreateVolumeGroupSnapshot', group);
    expect(plain.source_volume_ids).toEqual([...ids.slice(0, 1000), '… (3 more)']);
    expect(Object.entries(plain.parameters ?? {}).slice(999)).toEqual([
      ['v999', 'v999'],
      ['…', '(3 more)'],
    ]);
  });

  test('a hostile map keeps its keys and touches no prototype', () => {
    const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''];
    const create = fromBytes('CreateVolume', Buffer.concat(keys.map((key) => mapEntry(4, key, 'value'))));
    const plain = redactRequest('CreateVolume', create);
    expect(Object.keys(plain.parameters ?? {})).toEqual(keys);
    expect(JSON.stringify(plain)).toBe(
      '{"parameters":{"__proto__":"value","constructor":"value","toString":"value","hasOwnProperty":"value","":"value"}}',
    );
    expect(Object.getPrototypeOf(plain.parameters)).toBe(Object.prototype);
    const secret = fromBytes('DeleteVolume', mapEntry(2, '__proto__', 'hunter2'));
    expect(JSON.stringify(redactRequest('DeleteVolume', secret))).toBe(
      `{"secrets":{"__proto__":"${STRIPPED}"}}`,
    );
  });
});

describe('redactResponse', () => {
  const snapshot = {
    snapshot_id: 's',
    source_volume_id: 'v',
    size_bytes: '1073741824',
    creation_time: { seconds: '1700000000', nanos: 250_000_000 },
    ready_to_use: true,
  };

  test('shows times and wrappers by value, decoded or as a service writes them', () => {
    const plain = { snapshot: { ...snapshot, creation_time: '2023-11-14T22:13:20.250Z' } };
    const written = { snapshot };
    expect(redactResponse('CreateSnapshot', written)).toEqual(plain);
    expect(redactResponse('CreateSnapshot', response('CreateSnapshot', written))).toEqual(plain);
    expect(
      redactResponse('GetCapacity', { maximum_volume_size: { value: '7' }, available_capacity: 7 }),
    ).toEqual({
      available_capacity: '7',
      maximum_volume_size: '7',
    });
  });

  test('a wrapper at its default is said, for its presence has a meaning', () => {
    expect(redactResponse('Probe', { ready: { value: false } })).toEqual({ ready: false });
    expect(redactResponse('Probe', { ready: {} })).toEqual({ ready: false });
    expect(redactResponse('Probe', {})).toEqual({});
  });

  test('a time that no calendar has is shown in seconds', () => {
    const late = { snapshot: { creation_time: { seconds: '9223372036854775807' } } };
    expect(redactResponse('CreateSnapshot', late)).toEqual({
      snapshot: { creation_time: '9223372036854775807 s' },
    });
  });

  test('enums of a reply are named whether the service gave number or name', () => {
    const usage = [
      { unit: 1 as const, total: '5' },
      { unit: 'INODES' as const, total: '6' },
    ];
    expect(redactResponse('NodeGetVolumeStats', { usage })).toEqual({
      usage: [
        { unit: 'BYTES', total: '5' },
        { unit: 'INODES', total: '6' },
      ],
    });
  });
});

test('redactMessage serves messages outside the RPC table and refuses unknown ones', () => {
  const status = { plugin_registered: false, error: 'no such driver' };
  expect(redactMessage('pluginregistration.RegistrationStatus', status)).toEqual({ error: 'no such driver' });
  expect(() => redactMessage('csi.v1.Nothing', {})).toThrow(
    /expected a message of proto\/, found csi\.v1\.Nothing/,
  );
});
