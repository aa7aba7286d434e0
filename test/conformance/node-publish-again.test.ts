import { blockCapability, dispose, type MODE, mountCapability } from '../support/lifecycle';
import { conformance } from './harness';
import { publishing } from './publishing';

type ModeName = keyof typeof MODE;
const SINGLE: ModeName[] = ['SINGLE_NODE_WRITER', 'SINGLE_NODE_READER_ONLY', 'SINGLE_NODE_SINGLE_WRITER'];
const MANY: ModeName[] = [
  'MULTI_NODE_READER_ONLY',
  'MULTI_NODE_SINGLE_WRITER',
  'MULTI_NODE_MULTI_WRITER',
  'SINGLE_NODE_MULTI_WRITER',
];

conformance('a second NodePublishVolume', (bench) => {
  const { staged, call, exists, newTarget } = publishing(bench);

  const otherArguments: [string, object][] = [
    ['readonly flipped', { readonly: true }],
    ['another access mode', { volume_capability: mountCapability({ mode: 'MULTI_NODE_SINGLE_WRITER' }) }],
    ['other mount_flags', { volume_capability: mountCapability({ mountFlags: ['noexec'] }) }],
    ['another access type', { volume_capability: blockCapability() }],
    ['another volume_context', { volume_context: { 'csi.storage.k8s.io/pod.name': 'other' } }],
    ['another publish_context', { publish_context: { other: 'x' } }],
  ];

  test.each(otherArguments)(
    'NP05, NP06 same target, %s: ALREADY_EXISTS, and it stays',
    async (_what, fields) => {
      const { request, used } = await staged();
      await bench.csi.NodePublishVolume(request);
      expect(await call({ ...request, ...fields })).toBe('ALREADY_EXISTS');
      expect(await call(request)).toBe('OK');
      await dispose(bench.driver, used);
    },
  );

  test('NP05 same target, published readonly, asked for writable: ALREADY_EXISTS', async () => {
    const { request } = await staged();
    await bench.csi.NodePublishVolume({ ...request, readonly: true });
    expect(await call(request)).toBe('ALREADY_EXISTS');
  });

  test('NP06 same target, another volume: ALREADY_EXISTS, and it stays', async () => {
    const { request } = await staged();
    const other = await staged();
    await bench.csi.NodePublishVolume(request);
    expect(await call({ ...other.request, target_path: request.target_path })).toBe('ALREADY_EXISTS');
    expect(await call(request)).toBe('OK');
  });

  describe.each([...SINGLE, ...MANY])('with %s', (mode) => {
    const capability = mountCapability({ mode });
    const many = MANY.includes(mode);

    test('same target: same arguments OK, other ones ALREADY_EXISTS', async () => {
      const { request } = await staged(capability);
      expect([await call(request), await call(request)]).toEqual(['OK', 'OK']);
      expect(await call({ ...request, readonly: true })).toBe('ALREADY_EXISTS');
      expect(await call({ ...request, volume_context: { a: 'b' } })).toBe('ALREADY_EXISTS');
    });

    test(`NP07, NP08, NP09 another target: ${many ? 'OK' : 'FAILED_PRECONDITION, not made'}`, async () => {
      const { request } = await staged(capability);
      await bench.csi.NodePublishVolume(request);
      for (const fields of [{}, { readonly: true }, { volume_context: { a: 'b' } }]) {
        const target_path = await newTarget();
        expect(await call({ ...request, ...fields, target_path })).toBe(many ? 'OK' : 'FAILED_PRECONDITION');
        expect(await exists(target_path)).toBe(many);
      }
    });

    test('another target after the first is unpublished: OK', async () => {
      const { request } = await staged(capability);
      await bench.csi.NodePublishVolume(request);
      await bench.csi.NodeUnpublishVolume(request);
      expect(await call({ ...request, target_path: await newTarget() })).toBe('OK');
    });
  });

  test('NP10 another target, another volume_capability: FAILED_PRECONDITION, not made', async () => {
    const { request } = await staged(mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' }));
    await bench.csi.NodePublishVolume(request);
    for (const volume_capability of [
      mountCapability({ mode: 'MULTI_NODE_SINGLE_WRITER' }),
      mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER', mountFlags: ['noexec'] }),
      mountCapability({ mode: 'SINGLE_NODE_WRITER' }),
    ]) {
      const target_path = await newTarget();
      expect(await call({ ...request, target_path, volume_capability })).toBe('FAILED_PRECONDITION');
      expect(await exists(target_path)).toBe(false);
    }
  });
});
