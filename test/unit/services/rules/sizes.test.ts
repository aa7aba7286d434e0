import { SERVICE_ACCOUNT_TOKENS } from '../../../../src/csi/context-keys';
import { schemaMessages } from '../../../../src/csi/gen/schema';
import { type CsiMethod, methods, rpcs } from '../../../../src/csi/rpcs';
import { everything, mount, valid, verdict, verdictOn } from './support';

const fieldsOf = (method: CsiMethod) =>
  Object.entries(schemaMessages[rpcs[method].requestType]?.fields ?? {});
const isPath = (name: string) => name.endsWith('_path');

/** Every string field of every request by the schema, so that a new one is tested without anyone remembering. */
const strings = methods.flatMap((method) =>
  fieldsOf(method)
    .filter(([name, field]) => field.type === 'string' && !field.label && !isPath(name))
    .map(([name]): [CsiMethod, string, number] => [method, name, name === 'node_id' ? 256 : 128]),
);
const maps = methods.flatMap((method) =>
  fieldsOf(method)
    .filter(([, field]) => field.label === 'map')
    .map(([name]): [CsiMethod, string] => [method, name]),
);

test('requests have 30 limited strings and 33 limited maps', () => {
  expect([strings.length, maps.length]).toEqual([30, 33]);
});

test.each(strings)('%s: %s takes %d bytes and not one more', (method, field, limit) => {
  expect(verdictOn(method, field, 'x'.repeat(limit))).toBe('OK');
  expect(verdictOn(method, field, 'x'.repeat(limit + 1))).toBe(
    `INVALID_ARGUMENT ${field}: expected at most ${limit} bytes; found ${limit + 1} bytes`,
  );
});

test('bytes are counted, not characters', () => {
  expect(verdict('DeleteVolume', { volume_id: 'é'.repeat(64) })).toBe('OK');
  expect(verdict('DeleteVolume', { volume_id: 'é'.repeat(65) })).toMatch(/found 130 bytes$/);
  expect(verdict('DeleteVolume', { volume_id: '😀'.repeat(32) })).toBe('OK');
  expect(verdict('DeleteVolume', { volume_id: `${'😀'.repeat(32)}x` })).toMatch(/found 129 bytes$/);
});

test.each([
  ['CreateVolumeGroupSnapshot', 'source_volume_ids'],
  ['DeleteVolumeGroupSnapshot', 'snapshot_ids'],
  ['GetVolumeGroupSnapshot', 'snapshot_ids'],
] as const)('%s: each of %s takes 128 bytes', (method, field) => {
  expect(verdictOn(method, field, ['x'.repeat(128), 'y'])).toBe('OK');
  expect(verdictOn(method, field, ['y', 'x'.repeat(129)])).toBe(
    `INVALID_ARGUMENT ${field}[1]: expected at most 128 bytes; found 129 bytes`,
  );
});

test.each(maps)('%s: %s takes 4096 bytes of keys and values and not one more', (method, field) => {
  // Two entries and a character of two bytes: neither a count of values nor of characters would come out right.
  const full = { key: 'é'.repeat(1000), other: 'x'.repeat(4096 - 3 - 2000 - 5) };
  expect(verdictOn(method, field, full)).toBe('OK');
  expect(verdictOn(method, field, { ...full, other: `${full.other}x` })).toBe(
    `INVALID_ARGUMENT ${field}: expected at most 4096 bytes of keys and values; found 4097 bytes`,
  );
});

describe('service-account tokens', () => {
  const tokens = { [SERVICE_ACCOUNT_TOKENS]: 'x'.repeat(10_000) };

  test.each(['volume_context', 'secrets'])('do not count in %s; what stands beside them does', (field) => {
    expect(verdictOn('NodePublishVolume', field, { ...tokens, a: 'x'.repeat(4095) })).toBe('OK');
    expect(verdictOn('NodePublishVolume', field, { ...tokens, a: 'x'.repeat(4096) })).toMatch(
      /^INVALID_ARGUMENT .* found 4097 bytes$/,
    );
  });

  test('count in publish_context, where the kubelet never puts them', () => {
    expect(verdict('NodePublishVolume', { publish_context: tokens })).toMatch(
      /^INVALID_ARGUMENT publish_context/,
    );
  });
});

test.each([
  'ControllerPublishVolume',
  'ValidateVolumeCapabilities',
  'NodeStageVolume',
  'NodePublishVolume',
] as const)('%s: strictLimits false lifts the limit of volume_context alone', (method) => {
  const config = { ...everything, strictLimits: false };
  const large = { a: 'x'.repeat(5000) };
  expect(verdict(method, { volume_context: large }, config)).toBe('OK');
  expect(verdict(method, { secrets: large }, config)).toMatch(/^INVALID_ARGUMENT secrets/);
  expect(verdict(method, { volume_context: large }, { ...config, strictLimits: true })).toMatch(
    /^INVALID_ARGUMENT volume_context/,
  );
});

const capabilityFields = methods.flatMap((method) =>
  fieldsOf(method)
    .filter(([, field]) => field.type === 'csi.v1.VolumeCapability')
    .map(([name, field]): [CsiMethod, string, boolean] => [method, name, field.label === 'repeated']),
);

test.each(capabilityFields)('%s: %s holds its strings to their limits', (method, field, repeated) => {
  const of = (fields: object) => {
    const capability = { ...mount, mount: fields };
    return verdictOn(method, field, repeated ? [mount, capability] : capability);
  };
  const at = repeated ? `${field}[1].mount` : `${field}.mount`;
  expect(of({ fs_type: 'x'.repeat(128), volume_mount_group: 'x'.repeat(128) })).toBe('OK');
  expect(of({ fs_type: 'x'.repeat(129) })).toBe(
    `INVALID_ARGUMENT ${at}.fs_type: expected at most 128 bytes; found 129 bytes`,
  );
  expect(of({ volume_mount_group: 'x'.repeat(129) })).toBe(
    `INVALID_ARGUMENT ${at}.volume_mount_group: expected at most 128 bytes; found 129 bytes`,
  );
  expect(of({ mount_flags: ['x'.repeat(2000), 'é'.repeat(1048)] })).toBe('OK');
  expect(of({ mount_flags: ['x'.repeat(2001), 'é'.repeat(1048)] })).toBe(
    `INVALID_ARGUMENT ${at}.mount_flags: expected at most 4096 bytes in all; found 4097 bytes`,
  );
});

test.each(methods)('%s: a megabyte in any string is refused in a short sentence', (method) => {
  for (const [name, field] of fieldsOf(method)) {
    if (field.type !== 'string' || field.label) continue;
    const said = verdict(method, { ...valid[method], [name]: '/'.repeat(1 << 20) });
    expect(said).toMatch(/^INVALID_ARGUMENT .*found 1048576 bytes$/);
    expect(said.length).toBeLessThan(200);
  }
});
