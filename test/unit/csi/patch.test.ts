import { loadCsi } from '../../../src/csi/load';
import { applyMerge, setField } from '../../../src/csi/patch';

const csi = loadCsi();
type Plain = Record<string, unknown>;

/** Through the real encoder and back: what a service sees, and what a client would. */
const stage = (request: object): Plain => {
  const { requestSerialize, requestDeserialize } = csi.Node.NodeStageVolume;
  return requestDeserialize(requestSerialize(request)) as unknown as Plain;
};
const created = (response: object): Plain => {
  const { responseSerialize, responseDeserialize } = csi.Controller.CreateVolume;
  return responseDeserialize(responseSerialize(response as never)) as unknown as Plain;
};
const STAGE = 'csi.v1.NodeStageVolumeRequest';
const CREATED = 'csi.v1.CreateVolumeResponse';

const request = stage({
  volume_id: 'v',
  volume_capability: { mount: { fs_type: 'ext4', mount_flags: ['ro'] }, access_mode: { mode: 1 } },
  volume_context: { a: '1', b: '2' },
});

describe('a merge into a message', () => {
  it('goes field by field, and null is back to the default', () => {
    const before = created({
      volume: { volume_id: 'v', capacity_bytes: '5', volume_context: { a: '1', b: '2' } },
    });
    const after = applyMerge(CREATED, before, {
      volume: { capacity_bytes: '9007199254740993', volume_context: { a: null, c: '3' }, volume_id: null },
    });
    expect(created(after)).toEqual({
      volume: {
        ...(before.volume as Plain),
        volume_id: '',
        capacity_bytes: '9007199254740993',
        volume_context: { b: '2', c: '3' },
      },
    });
    expect(before.volume).toMatchObject({
      volume_id: 'v',
      capacity_bytes: '5',
      volume_context: { a: '1', b: '2' },
    });
  });

  it('makes the messages that are missing, whole as decoding gives them', () => {
    const after = applyMerge(CREATED, created({}), { volume: { capacity_bytes: 7 } });
    expect(after).toEqual(created({ volume: { capacity_bytes: '7' } }));
    expect(applyMerge(CREATED, after, { volume: null })).toEqual(created({}));
  });

  it('replaces lists whole', () => {
    const before = created({
      volume: { accessible_topology: [{ segments: { zone: 'a' } }, { segments: { zone: 'b' } }] },
    });
    const after = applyMerge(CREATED, before, {
      volume: { accessible_topology: [{ segments: { zone: 'c' } }] },
    });
    expect(created(after)).toEqual(
      created({ volume: { accessible_topology: [{ segments: { zone: 'c' } }] } }),
    );
  });

  it('knows the well-known types by their one value', () => {
    const { responseSerialize, responseDeserialize } = csi.Controller.CreateSnapshot;
    const snapshot = applyMerge(
      'csi.v1.CreateSnapshotResponse',
      {},
      {
        snapshot: { creation_time: '2026-01-31T12:00:00.25Z', ready_to_use: true },
      },
    );
    const read = responseDeserialize(responseSerialize(snapshot as never));
    expect(read.snapshot).toMatchObject({
      creation_time: { seconds: '1769860800', nanos: 250_000_000 },
      ready_to_use: true,
    });
    const probe = applyMerge('csi.v1.ProbeResponse', {}, { ready: false });
    expect(
      csi.Identity.Probe.responseDeserialize(csi.Identity.Probe.responseSerialize(probe as never)).ready,
    ).toEqual({ value: false });
    expect(applyMerge('csi.v1.GetCapacityResponse', {}, { maximum_volume_size: '5' })).toEqual({
      maximum_volume_size: { value: '5' },
    });
  });

  it('lets a oneof have one arm', () => {
    const capability = applyMerge('csi.v1.VolumeCapability', request.volume_capability as Plain, {
      block: {},
    });
    expect(capability).toMatchObject({ access_type: 'block', block: {} });
    expect(capability).not.toHaveProperty('mount');
    expect(applyMerge('csi.v1.VolumeCapability', capability, { block: null })).not.toHaveProperty(
      'access_type',
    );
    expect(applyMerge('csi.v1.VolumeCapability', capability, { mount: null })).toMatchObject({
      access_type: 'block',
    });
  });

  it('takes enums by name and by number', () => {
    const mode = (value: unknown) =>
      applyMerge('csi.v1.VolumeCapability.AccessMode', {}, { mode: value as string }).mode;
    expect([mode('MULTI_NODE_MULTI_WRITER'), mode(5), mode(99)]).toEqual([5, 5, 99]);
    expect(() => mode('SOMETHING')).toThrow(
      'expected a name of csi.v1.VolumeCapability.AccessMode.Mode, found "SOMETHING"',
    );
  });

  it('cannot reach a prototype', () => {
    const patch = JSON.parse('{"volume": {"volume_context": {"__proto__": "x"}}}');
    const { volume } = applyMerge(CREATED, created({}), patch) as { volume: { volume_context: Plain } };
    expect(Object.keys(volume.volume_context)).toEqual(['__proto__']);
    expect(({} as Plain).x).toBeUndefined();
    expect(() => applyMerge(CREATED, {}, { constructor: 1 })).toThrow(
      'expected a field of csi.v1.CreateVolumeResponse, found constructor',
    );
  });
});

describe('a field that is set', () => {
  it('leaves all others as they were', () => {
    const after = setField(STAGE, request, ['volume_capability', 'mount', 'fs_type'], 'xfs');
    expect(stage(after)).toEqual(
      stage({
        volume_id: 'v',
        volume_capability: { mount: { fs_type: 'xfs', mount_flags: ['ro'] }, access_mode: { mode: 1 } },
        volume_context: { a: '1', b: '2' },
      }),
    );
    expect(request).toMatchObject({ volume_capability: { mount: { fs_type: 'ext4' } } });
  });

  it('may be an entry of a map or of a list', () => {
    expect(setField(STAGE, request, ['volume_context', 'a.b/c'], 'x').volume_context).toEqual({
      a: '1',
      b: '2',
      'a.b/c': 'x',
    });
    expect(setField(STAGE, request, ['volume_context', 'a'], null).volume_context).toEqual({ b: '2' });
    const flags = (path: string[], value: unknown) =>
      (
        setField(STAGE, request, ['volume_capability', 'mount', 'mount_flags', ...path], value) as {
          volume_capability: { mount: Plain };
        }
      ).volume_capability.mount.mount_flags;
    expect(flags(['0'], 'rw')).toEqual(['rw']);
    expect(flags(['1'], 'rw')).toEqual(['ro', 'rw']);
    expect(flags(['0'], null)).toEqual([]);
    expect(flags([], ['a'])).toEqual(['a']);
    expect(() => flags(['7'], 'a')).toThrow('expected a position from 0 to 1 in the list, found 7');
  });

  it('replaces a map and a message whole, where a merge would not', () => {
    expect(setField(STAGE, request, ['volume_context'], { c: '3' }).volume_context).toEqual({ c: '3' });
    const capability = setField(STAGE, request, ['volume_capability'], { block: {} }).volume_capability;
    expect(capability).toEqual(stage({ volume_capability: { block: {} } }).volume_capability);
  });

  it('goes back to its default with null', () => {
    expect(setField(STAGE, request, ['volume_id'], null).volume_id).toBe('');
    expect(setField(STAGE, request, ['volume_capability'], null).volume_capability).toBeNull();
    expect(
      setField(STAGE, request, ['volume_capability', 'mount'], null).volume_capability,
    ).not.toHaveProperty('access_type');
  });

  it('switches the arm of a oneof on its way', () => {
    const block = stage({ volume_capability: { block: {}, access_mode: { mode: 1 } } });
    const after = setField(STAGE, block, ['volume_capability', 'mount', 'fs_type'], 'xfs');
    expect(stage(after)).toEqual(
      stage({ volume_capability: { mount: { fs_type: 'xfs' }, access_mode: { mode: 1 } } }),
    );
    expect(after.volume_capability).toMatchObject({ access_type: 'mount' });
    expect(after.volume_capability).not.toHaveProperty('block');
  });
});
