import type { CsiMethod } from '../../../../src/csi/rpcs';
import { verdictOn } from './support';

const absolute: [CsiMethod, string][] = [
  ['NodeStageVolume', 'staging_target_path'],
  ['NodeUnstageVolume', 'staging_target_path'],
  ['NodePublishVolume', 'target_path'],
  ['NodePublishVolume', 'staging_target_path'],
  ['NodeUnpublishVolume', 'target_path'],
  ['NodeGetVolumeStats', 'staging_target_path'],
  ['NodeExpandVolume', 'staging_target_path'],
];
const mayBeRelative: [CsiMethod, string][] = [
  ['NodeGetVolumeStats', 'volume_path'],
  ['NodeExpandVolume', 'volume_path'],
];
const optional: [CsiMethod, string][] = [
  ['NodePublishVolume', 'staging_target_path'],
  ['NodeGetVolumeStats', 'staging_target_path'],
  ['NodeExpandVolume', 'staging_target_path'],
];

test.each(absolute)('%s: %s is absolute', (method, field) => {
  for (const path of ['some/path', './x', 'x', '~/x', ' /x']) {
    expect(verdictOn(method, field, path)).toBe(
      `INVALID_ARGUMENT ${field}: expected an absolute path; found "${path}"`,
    );
  }
});

test.each(optional)('%s: %s may be absent', (method, field) => {
  expect(verdictOn(method, field, '')).toBe('OK');
});

describe.each([...absolute, ...mayBeRelative])('%s: %s', (method, field) => {
  test('takes what the kernel takes: 4095 bytes, and not one more', () => {
    expect(verdictOn(method, field, `/${'x'.repeat(4094)}`)).toBe('OK');
    expect(verdictOn(method, field, `/${'x'.repeat(4095)}`)).toBe(
      `INVALID_ARGUMENT ${field}: expected at most 4095 bytes; found 4096 bytes`,
    );
    expect(verdictOn(method, field, `/${'é'.repeat(2048)}`)).toMatch(/found 4097 bytes$/);
  });

  test('has no NUL, at which the kernel would stop reading', () => {
    expect(verdictOn(method, field, '/a\0b')).toBe(
      `INVALID_ARGUMENT ${field}: expected a path without NUL; found "/a\\u0000b"`,
    );
  });

  test.each(['/..', '/../a', '/a/../b', '/a/..', '/a//../b'])('has no .. segment: %s', (path) => {
    expect(verdictOn(method, field, path)).toBe(
      `INVALID_ARGUMENT ${field}: expected a path without .. segments; found "${path}"`,
    );
  });

  test.each(['/..a', '/a..', '/a/...', '/a..b/c', '/.', '/a//b/', '/'])('may look like %s', (path) => {
    expect(verdictOn(method, field, path)).toBe('OK');
  });
});

test('a long path is quoted in part, and on one line', () => {
  expect(verdictOn('NodeUnpublishVolume', 'target_path', `a\n${'x'.repeat(3000)}`)).toBe(
    `INVALID_ARGUMENT target_path: expected an absolute path; found "a\\n${'x'.repeat(78)}…"`,
  );
});
