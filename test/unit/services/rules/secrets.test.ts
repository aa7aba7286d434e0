import { schemaMessages } from '../../../../src/csi/gen/schema';
import { methods, rpcs } from '../../../../src/csi/rpcs';
import { validateRequest } from '../../../../src/services/rules';
import { codec, fromBytes, mapEntry } from '../../csi/wire';
import { everything, mount, valid, verdict } from './support';

const withSecrets = methods.filter((m) => schemaMessages[rpcs[m].requestType]?.fields.secrets?.secret);

describe.each(withSecrets)('%s: secrets', (method) => {
  test('have keys of letters, digits, dash, underscore and dot', () => {
    expect(verdict(method, { secrets: { 'aZ09-_.': 'any value: ü\0' } })).toBe('OK');
  });

  test.each(['a b', 'a/b', 'ä', '', 'a:b', 'a\n'])(
    'have no key like %j, and the value is not told',
    (key) => {
      const said = verdict(method, { secrets: { ok: 'hunter2', [key]: 'hunter2' } });
      expect(said).toBe(
        `INVALID_ARGUMENT secrets: expected keys of letters, digits, '-', '_' and '.'; found key ${JSON.stringify(key)}`,
      );
    },
  );

  test('may be many in one call only within the limit, and no value is told', () => {
    const said = verdict(method, { secrets: { password: 'hunter2'.repeat(1000) } });
    expect(said).toMatch(/^INVALID_ARGUMENT secrets: .* found 7008 bytes$/);
    expect(said).not.toContain('hunter2');
  });

  test('named like parts of an object are ordinary keys', () => {
    const rest = codec(method).requestSerialize(valid[method]);
    const keys = ['__proto__', 'constructor', 'hasOwnProperty'].map((key) =>
      mapEntry(secretsNumber(method), key, 'x'),
    );
    const request = fromBytes(method, Buffer.concat([rest, ...keys]));
    expect((request as { secrets?: object }).secrets).toHaveProperty('constructor', 'x');
    expect(() => validateRequest(method, request, everything)).not.toThrow();
  });
});

test('19 requests were tested', () => {
  expect(withSecrets).toHaveLength(19);
});

test('a mount flag is never told, however wrong the capability', () => {
  const flags = { mount_flags: ['password=hunter2', 'x'.repeat(5000)], fs_type: 'x'.repeat(200) };
  for (const capability of [
    { mount: flags, access_mode: { mode: 1 as const } },
    { mount: { ...flags, fs_type: 'ext4' }, access_mode: { mode: 1 as const } },
    { mount: flags },
    { ...mount, mount: flags, block: {} },
  ]) {
    const said = verdict('NodeStageVolume', { volume_capability: capability });
    expect(said).toMatch(/^INVALID_ARGUMENT volume_capability/);
    expect(said).not.toContain('hunter2');
  }
});

/** The field number of secrets, found by encoding one. */
function secretsNumber(method: (typeof withSecrets)[number]): number {
  const [tag = 0] = codec(method).requestSerialize({ secrets: { a: 'b' } });
  return tag >> 3;
}
