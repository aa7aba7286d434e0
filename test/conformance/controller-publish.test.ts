import { blockCapability, createVolume, dispose, MODE, mountCapability, use } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const writer = mountCapability();
const shared = mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' });

conformance(
  'ControllerPublishVolume',
  (bench) => {
    const second = 'node-2';
    beforeAll(() => bench.keep({ profile: 'node', nodeId: second, dataDir: bench.driver.dataDir }));
    const attach = (volume_id: string, fields: object = {}) =>
      bench.csi.ControllerPublishVolume({
        volume_id,
        node_id: 'node-1',
        volume_capability: writer,
        ...fields,
      });
    const detach = (volume_id: string, node_id = '') =>
      bench.csi.ControllerUnpublishVolume({ volume_id, node_id });

    afterEach(async () => {
      const { entries } = await bench.csi.ListVolumes();
      for (const { volume } of entries) await detach(volume?.volume_id ?? '');
    });

    test('P01 an identical call again: OK, the same publish_context', async () => {
      const id = await createVolume(bench.driver);
      const first = await attach(id, { readonly: true });
      expect(Object.keys(first.publish_context).length).toBeGreaterThan(0);
      expect(await attach(id, { readonly: true })).toEqual(first);
      // Secrets are no part of what makes a call identical.
      expect(await attach(id, { readonly: true, secrets: { a: 'b' } })).toEqual(first);
    });

    test('P02 an unknown volume, an unknown node, or both: NOT_FOUND', async () => {
      const id = await createVolume(bench.driver);
      expect(await outcome(attach('unknown'))).toBe('NOT_FOUND');
      expect(await outcome(attach(id, { node_id: 'unknown' }))).toBe('NOT_FOUND');
      expect(await outcome(attach('unknown', { node_id: 'unknown' }))).toBe('NOT_FOUND');
    });

    test.each([
      ['readonly', { readonly: true }],
      ['another access mode', { volume_capability: mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' }) }],
      ['another access type', { volume_capability: blockCapability() }],
      ['another fs_type', { volume_capability: mountCapability({ fsType: 'ext4' }) }],
      ['other mount_flags', { volume_capability: mountCapability({ mountFlags: ['noatime'] }) }],
      ['another mount group', { volume_capability: mountCapability({ group: '1000' }) }],
    ])('P03 published on that node, asked for with %s: ALREADY_EXISTS', async (_what, fields) => {
      const id = await createVolume(bench.driver);
      const first = await attach(id);
      expect(await outcome(attach(id, fields))).toBe('ALREADY_EXISTS');
      expect(await attach(id)).toEqual(first);
    });

    test('P03 published readonly, asked for writable: ALREADY_EXISTS', async () => {
      const id = await createVolume(bench.driver);
      await attach(id, { readonly: true });
      expect(await outcome(attach(id))).toBe('ALREADY_EXISTS');
    });

    test.each([
      'SINGLE_NODE_WRITER',
      'SINGLE_NODE_READER_ONLY',
      'SINGLE_NODE_SINGLE_WRITER',
      'SINGLE_NODE_MULTI_WRITER',
    ] as const)('P04 a second node, %s: FAILED_PRECONDITION until the first is detached', async (mode) => {
      const volume_capability = mountCapability({ mode });
      const id = await createVolume(bench.driver);
      await attach(id, { volume_capability });
      const other = () => attach(id, { volume_capability, node_id: second });
      expect(await outcome(other())).toBe('FAILED_PRECONDITION');
      await detach(id, 'node-1');
      expect(await outcome(other())).toBe('OK');
      expect(await outcome(attach(id, { volume_capability }))).toBe('FAILED_PRECONDITION');
    });

    test.each([
      ['MULTI_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'],
      ['MULTI_NODE_SINGLE_WRITER', 'MULTI_NODE_SINGLE_WRITER'],
      ['MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER'],
      ['MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_READER_ONLY'],
    ] as const)('P05 a second node, %s beside %s: OK', async (mode, otherMode) => {
      const id = await createVolume(bench.driver);
      const first = await attach(id, { volume_capability: mountCapability({ mode }) });
      const other = await attach(id, {
        volume_capability: mountCapability({ mode: otherMode }),
        node_id: second,
      });
      expect(other.publish_context).not.toEqual(first.publish_context);
      const { status } = await bench.csi.ControllerGetVolume({ volume_id: id });
      expect(status?.published_node_ids.sort()).toEqual(['node-1', second]);
    });

    test('P05 a second node, one of the two exclusive: FAILED_PRECONDITION', async () => {
      const one = await createVolume(bench.driver);
      await attach(one, { volume_capability: shared });
      expect(await outcome(attach(one, { node_id: second }))).toBe('FAILED_PRECONDITION');
      const two = await createVolume(bench.driver);
      await attach(two);
      expect(await outcome(attach(two, { volume_capability: shared, node_id: second }))).toBe(
        'FAILED_PRECONDITION',
      );
    });

    test('P06 one more volume than max_volumes_per_node: RESOURCE_EXHAUSTED', async () => {
      const { max_volumes_per_node } = await bench.csi.NodeGetInfo();
      const ids = [];
      for (let i = 0; i <= Number(max_volumes_per_node); i++) ids.push(await createVolume(bench.driver));
      const last = ids.pop() ?? '';
      for (const id of ids) await attach(id);
      expect(await outcome(attach(last))).toBe('RESOURCE_EXHAUSTED');
      // What is attached is asked for again without being counted again.
      expect(await outcome(attach(ids[0] ?? ''))).toBe('OK');
    });

    test('P07 the limit is that of the node: another has room', async () => {
      const ids = await Promise.all([1, 2, 3, 4].map(() => createVolume(bench.driver)));
      const [a = '', b = '', c = '', d = ''] = ids;
      for (const id of [a, b, c]) await attach(id);
      expect(await outcome(attach(d))).toBe('RESOURCE_EXHAUSTED');
      expect(await outcome(attach(d, { node_id: second }))).toBe('OK');
    });

    test('P08 at the limit, one is unpublished: another can be published', async () => {
      const ids = await Promise.all([1, 2, 3, 4].map(() => createVolume(bench.driver)));
      const [a = '', b = '', c = '', d = ''] = ids;
      for (const id of [a, b, c]) await attach(id);
      await detach(b, 'node-1');
      expect(await outcome(attach(d))).toBe('OK');
      expect(await outcome(attach(b))).toBe('RESOURCE_EXHAUSTED');
      await detach(a);
      await bench.csi.DeleteVolume({ volume_id: a });
      expect(await outcome(attach(b))).toBe('OK');
    });

    test.each([
      ['raw block of a mount volume', mountCapability(), blockCapability()],
      ['mount of a raw block volume', blockCapability(), mountCapability()],
      ['a filesystem that nobody knows', mountCapability(), mountCapability({ fsType: 'ntfs' })],
    ])('P09 %s: FAILED_PRECONDITION', async (_what, capability, volume_capability) => {
      const id = await createVolume(bench.driver, { capability });
      expect(await outcome(attach(id, { volume_capability }))).toBe('FAILED_PRECONDITION');
      const { status } = await bench.csi.ControllerGetVolume({ volume_id: id });
      expect(status?.published_node_ids).toEqual([]);
    });

    test('P10 volume_context with a changed key of the driver: INVALID_ARGUMENT', async () => {
      const { volume } = await bench.csi.CreateVolume({ name: 'P10', volume_capabilities: [writer] });
      const [key = ''] = Object.keys(volume?.volume_context ?? {});
      const volume_context = { ...volume?.volume_context, [key]: 'changed' };
      expect(await outcome(attach(volume?.volume_id ?? '', { volume_context }))).toBe('INVALID_ARGUMENT');
    });

    test('P11 volume_context absent, as it was, or with keys of the CO: OK', async () => {
      const { volume } = await bench.csi.CreateVolume({ name: 'P11', volume_capabilities: [writer] });
      const id = volume?.volume_id ?? '';
      const own = volume?.volume_context ?? {};
      const added = {
        'storage.kubernetes.io/csiProvisionerIdentity': '1700000000000-1-fake.csi.test',
        'csi.storage.k8s.io/pod.name': 'pod',
      };
      for (const volume_context of [{}, own, { ...own, ...added }, added])
        expect(await outcome(attach(id, { volume_context }))).toBe('OK');
    });

    test.each([
      ['absent', null],
      ['empty', {}],
      ['without access_mode', { mount: {} }],
      ['without access_type', { access_mode: { mode: MODE.SINGLE_NODE_WRITER } }],
      ['with the mode 99', { mount: {}, access_mode: { mode: 99 } }],
    ])('P12 a capability that is %s: INVALID_ARGUMENT', async (_what, volume_capability) => {
      const id = await createVolume(bench.driver);
      expect(await outcome(attach(id, { volume_capability }))).toBe('INVALID_ARGUMENT');
    });

    test('P13 readonly without PUBLISH_READONLY: INVALID_ARGUMENT', async () => {
      const driver = await bench.start({ capabilities: '-PUBLISH_READONLY' });
      const volume_id = await createVolume(driver);
      const call = { volume_id, node_id: 'node-1', volume_capability: writer };
      expect(await outcome(driver.csi.ControllerPublishVolume({ ...call, readonly: true }))).toBe(
        'INVALID_ARGUMENT',
      );
      expect(await outcome(driver.csi.ControllerPublishVolume(call))).toBe('OK');
    });

    test('publish_context: at most 4 KiB, no secret in it', async () => {
      const id = await createVolume(bench.driver);
      const { publish_context } = await attach(id, { secrets: { password: 'marker-77' } });
      const text = JSON.stringify(publish_context);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
      expect(text).not.toContain('marker-77');
    });
  },
  { maxVolumesPerNode: 3 },
);

conformance('ControllerPublishVolume to a node that is named like a property of every object', (bench) => {
  test.each(['constructor', '__proto__', 'toString'])('%s: attached, staged and detached', async (nodeId) => {
    const driver = await bench.start({ nodeId });
    const used = await use(driver);
    const { status } = await driver.csi.ControllerGetVolume({ volume_id: used.id });
    expect(status?.published_node_ids).toEqual([nodeId]);
    await dispose(driver, used);
  });
});
