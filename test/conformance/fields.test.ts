import { type SchemaField, schemaMessages } from '../../src/csi/gen/schema';
import { type CsiMethod, methods, rpcs } from '../../src/csi/rpcs';
import { outcome, protocol } from './harness';
import { minimal } from './requests';

type Field = readonly [method: CsiMethod, field: string];

const fieldsOf = (method: CsiMethod) =>
  Object.entries(schemaMessages[rpcs[method].requestType]?.fields ?? {}) as [string, SchemaField][];
const where = (matches: (name: string, field: SchemaField) => boolean): Field[] =>
  methods.flatMap((method) =>
    fieldsOf(method)
      .filter(([name, field]) => matches(name, field))
      .map(([name]): Field => [method, name]),
  );

const strings = where((name, field) => field.type === 'string' && !field.label && !name.endsWith('_path'));
const paths = where((name) => name.endsWith('_path'));
const maps = where((_name, field) => field.label === 'map');
const secretMaps = where((name) => name === 'secrets');
const lists = where((_name, field) => field.type === 'string' && field.label === 'repeated');

/** Judged by the service after the existence of the volume or group: csi-sanity sends them empty. */
const AFTER_EXISTENCE = ['mutable_parameters', 'snapshot_ids'];

/** Map of a total of `bytes` in UTF-8, in two entries. */
function mapOf(bytes: number): Record<string, string> {
  return { é: 'x'.repeat(1000), second: 'y'.repeat(bytes - 2 - 1000 - 6) };
}

protocol('fields of requests', (bench) => {
  const send = (method: CsiMethod, fields: object) =>
    outcome(bench.csi[method]({ ...minimal[method], ...fields } as never));

  describe('required fields', () => {
    const required = methods.flatMap((method) =>
      Object.keys(minimal[method])
        .filter((field) => !AFTER_EXISTENCE.includes(field))
        // The two that a CO may leave out, as far as the fields alone can tell.
        .filter((field) => !(method === 'NodePublishVolume' && field === 'staging_target_path'))
        .map((field): Field => [method, field]),
    );

    test.each(required)('%s without %s: INVALID_ARGUMENT', async (method, field) => {
      expect(await send(method, { [field]: undefined })).toBe('INVALID_ARGUMENT');
    });

    test.each(methods)(
      '%s with nothing at all: INVALID_ARGUMENT, or OK where nothing is required',
      async (method) => {
        const needs = required.some(([other]) => other === method);
        expect(await outcome(bench.csi[method]({} as never))).toBe(needs ? 'INVALID_ARGUMENT' : 'OK');
      },
    );
  });

  describe('T05 strings', () => {
    test.each(strings)(
      '%s: %s of one byte too many: INVALID_ARGUMENT; at the limit it is read',
      async (method, field) => {
        const limit = field === 'node_id' ? 256 : 128;
        expect(await send(method, { [field]: 'x'.repeat(limit + 1) })).toBe('INVALID_ARGUMENT');
        expect(await send(method, { [field]: 'x'.repeat(limit) })).not.toBe('INVALID_ARGUMENT');
        expect(await send(method, { [field]: 'é'.repeat(limit / 2) })).not.toBe('INVALID_ARGUMENT');
        expect(await send(method, { [field]: `${'é'.repeat(limit / 2)}x` })).toBe('INVALID_ARGUMENT');
      },
    );

    test.each(lists)(
      '%s: an element of %s of 129 bytes: INVALID_ARGUMENT; of 128 it is read',
      async (method, field) => {
        expect(await send(method, { [field]: ['a', 'x'.repeat(129)] })).toBe('INVALID_ARGUMENT');
        expect(await send(method, { [field]: ['a', 'x'.repeat(128)] })).not.toBe('INVALID_ARGUMENT');
      },
    );

    test.each([
      'CreateVolume',
      'ControllerPublishVolume',
      'ValidateVolumeCapabilities',
      'ControllerExpandVolume',
      'NodeStageVolume',
      'NodePublishVolume',
      'NodeExpandVolume',
      'GetCapacity',
    ] as const)(
      '%s: fs_type and mount group of 129 bytes, mount_flags of 4097: INVALID_ARGUMENT',
      async (method) => {
        const withMount = (mount: object) => {
          const capability = { mount, access_mode: { mode: 1 } };
          return send(method, { volume_capability: capability, volume_capabilities: [capability] });
        };
        for (const mount of [
          { fs_type: 'x'.repeat(129) },
          { volume_mount_group: '1'.repeat(129) },
          { mount_flags: ['x'.repeat(4000), 'y'.repeat(97)] },
        ])
          expect(await withMount(mount)).toBe('INVALID_ARGUMENT');
        if (method === 'CreateVolume') return;
        const most = { fs_type: 'x'.repeat(128), mount_flags: ['x'.repeat(4000), 'y'.repeat(96)] };
        expect(await withMount(most)).not.toBe('INVALID_ARGUMENT');
      },
    );
  });

  describe('T07 maps', () => {
    test.each(maps)('%s: %s of 4097 bytes: INVALID_ARGUMENT', async (method, field) => {
      expect(await send(method, { [field]: mapOf(4097) })).toBe('INVALID_ARGUMENT');
    });

    /** The others know their keys, and say INVALID_ARGUMENT for that. */
    const free = maps.filter(([, field]) => ['volume_context', 'publish_context'].includes(field));
    test.each(free)('%s: %s of 4096 bytes is read', async (method, field) => {
      expect(await send(method, { [field]: mapOf(4096) })).not.toBe('INVALID_ARGUMENT');
    });

    test.each(secretMaps)('%s: %s of 4096 bytes is read, one byte more is not', async (method) => {
      const secrets = (bytes: number) => ({ secrets: { key: 's'.repeat(bytes - 3) } });
      expect(await send(method, secrets(4096))).not.toBe('INVALID_ARGUMENT');
      expect(await send(method, secrets(4097))).toBe('INVALID_ARGUMENT');
    });

    test.each(['CreateVolume', 'GetCapacity', 'CreateSnapshot', 'CreateVolumeGroupSnapshot'] as const)(
      '%s: parameters of 4096 bytes are read',
      async (method) => {
        const key = 'csi.storage.k8s.io/pvc/name';
        const parameters = { [key]: 'x'.repeat(4096 - key.length) };
        const name = { name: 'many parameters' };
        expect(await send(method, { parameters, ...(method !== 'GetCapacity' && name) })).not.toBe(
          'INVALID_ARGUMENT',
        );
      },
    );
  });

  describe('T09 paths', () => {
    test.each(paths)(
      '%s: %s of 4097 bytes and of a megabyte: refused, the process alive',
      async (method, field) => {
        for (const length of [4097, 1 << 20])
          expect(await send(method, { [field]: `/${'x'.repeat(length - 1)}` })).toBe('INVALID_ARGUMENT');
        expect(await outcome(bench.csi.Probe())).toBe('OK');
      },
    );

    test.each(paths)('%s: %s as long as the kubelet makes them is read', async (method, field) => {
      const uid = '0'.repeat(36);
      const path = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~csi/pvc-${uid}/mount`;
      expect(Buffer.byteLength(path)).toBeGreaterThan(128);
      expect(await send(method, { [field]: path })).not.toBe('INVALID_ARGUMENT');
    });

    test.each(paths)('%s: %s with a NUL or a .. segment: refused', async (method, field) => {
      for (const path of ['/a\0b', '/a/../b', '/..'])
        expect(await send(method, { [field]: path })).toBe('INVALID_ARGUMENT');
    });

    test.each([
      ['NodeStageVolume', 'staging_target_path'],
      ['NodeUnstageVolume', 'staging_target_path'],
      ['NodePublishVolume', 'target_path'],
      ['NodePublishVolume', 'staging_target_path'],
      ['NodeUnpublishVolume', 'target_path'],
      ['NodeGetVolumeStats', 'staging_target_path'],
      ['NodeExpandVolume', 'staging_target_path'],
    ] as const)('%s: a relative %s: INVALID_ARGUMENT', async (method, field) => {
      expect(await send(method, { [field]: 'some/path' })).toBe('INVALID_ARGUMENT');
    });

    test.each(['NodeGetVolumeStats', 'NodeExpandVolume'] as const)(
      '%s: a relative volume_path is one where nothing is: NOT_FOUND',
      async (method) => {
        expect(await send(method, { volume_path: 'some/path' })).toBe('NOT_FOUND');
      },
    );
  });

  describe('T10 keys of secrets', () => {
    test.each(secretMaps)(
      '%s: a key with another character than A-Z a-z 0-9 _ . -: INVALID_ARGUMENT',
      async (method) => {
        for (const key of ['a b', 'a/b', 'a:b', 'é', '', 'a\n', '🔑'])
          expect([key, await send(method, { secrets: { good: '1', [key]: 'x' } })]).toEqual([
            key,
            'INVALID_ARGUMENT',
          ]);
      },
    );

    test.each(secretMaps)('%s: keys of those characters are read', async (method) => {
      const secrets = { 'a-B_9.z': 'x', '.': 'y', '-': 'z', __proto__: 'w' };
      expect(await send(method, { secrets })).not.toBe('INVALID_ARGUMENT');
    });
  });

  test('T06 there are as many fields as the specification has', () => {
    expect([strings.length, maps.length, secretMaps.length, paths.length, lists.length]).toEqual([
      30, 33, 19, 9, 3,
    ]);
  });
});
