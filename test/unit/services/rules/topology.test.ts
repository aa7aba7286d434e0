import { verdict, without } from './support';

const capacity = (segments: Record<string, string>) =>
  verdict('GetCapacity', { accessible_topology: { segments } });
const zone = (value: string) => ({ segments: { zone: value } });

describe('segments', () => {
  test.each([
    [{ zone: 'z1' }],
    [{ 'topology.fake.csi.test/zone': 'Z_1.a-b' }],
    [{ 'csi/zone': '1' }],
    [{ Zone: 'a', rack: 'b' }],
    [{ [`${'p'.repeat(63)}/${'n'.repeat(63)}`]: 'v'.repeat(63) }],
    [{}],
  ])('%j is fine', (segments) => {
    expect(capacity(segments)).toBe('OK');
  });

  test.each(['', '-z', 'z-', '_z', 'z.', 'a b', 'ü', 'a/b', 'v'.repeat(64)])(
    'value %j is refused',
    (value) => {
      expect(capacity({ zone: value })).toBe(
        `INVALID_ARGUMENT accessible_topology.segments["zone"]: expected 1 to 63 letters, digits, '-', '_' and '.', a letter or digit first and last; found ${JSON.stringify(value)}`,
      );
    },
  );

  test.each(['', '-z', 'z-', 'a b', 'ü', 'p/', 'p/-z', 'a/b/c', 'n'.repeat(64), `p/${'n'.repeat(64)}`])(
    'key name in %j is refused',
    (key) => {
      expect(capacity({ [key]: 'a' })).toMatch(
        /^INVALID_ARGUMENT accessible_topology\.segments: expected key names/,
      );
    },
  );

  test.each(['/z', 'Upper.case/z', '-a.b/z', 'a-.b/z', 'a..b/z', 'a_b/z', `${'p'.repeat(64)}/z`])(
    'key prefix in %j is refused',
    (key) => {
      expect(capacity({ [key]: 'a' })).toBe(
        `INVALID_ARGUMENT accessible_topology.segments: expected key prefixes that are lower-case domain names of at most 63 bytes; found key ${JSON.stringify(key)}`,
      );
    },
  );

  test('keys that differ in case only are one key given twice', () => {
    expect(capacity({ 'fake/zone': 'a', 'fake/Zone': 'a' })).toBe(
      'INVALID_ARGUMENT accessible_topology.segments: expected keys that differ in more than case; found "fake/Zone" again',
    );
  });

  test('are a map like any other: 4096 bytes', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`k${i}${'x'.repeat(50)}`, 'v'.repeat(60)]),
    );
    expect(capacity(many)).toMatch(/^INVALID_ARGUMENT .*segments: expected at most 4096 bytes/);
  });
});

describe('accessibility_requirements', () => {
  const create = (accessibility_requirements: object) =>
    verdict('CreateVolume', { accessibility_requirements });

  test.each([
    [{ requisite: [zone('a')] }],
    [{ preferred: [zone('a')] }],
    [{ requisite: [zone('a'), zone('b')], preferred: [zone('b'), zone('a')] }],
    [
      {
        requisite: [{ segments: { zone: 'a', rack: 'r' } }],
        preferred: [{ segments: { rack: 'r', zone: 'a' } }],
      },
    ],
    [{ requisite: [{ segments: { zone: 'a' } }], preferred: [{ segments: { Zone: 'a' } }] }],
  ])('%j is fine', (requirement) => {
    expect(create(requirement)).toBe('OK');
  });

  test('must name a topology', () => {
    expect(create({})).toBe(
      'INVALID_ARGUMENT accessibility_requirements: expected requisite or preferred to hold a topology; found both empty',
    );
  });

  test.each([[zone('c')], [zone('A')], [{ segments: { zone: 'a', rack: 'r' } }], [{ segments: {} }]])(
    'preferred %j is not in requisite',
    (stray) => {
      expect(create({ requisite: [zone('a'), zone('b')], preferred: [zone('a'), stray] })).toBe(
        'INVALID_ARGUMENT accessibility_requirements.preferred[1]: expected one of the topologies in requisite; found another one',
      );
    },
  );

  test.each(['requisite', 'preferred'])('every topology of %s is looked at', (list) => {
    expect(create({ [list]: [zone('a'), zone('-')] })).toMatch(
      new RegExp(`^INVALID_ARGUMENT accessibility_requirements\\.${list}\\[1\\]\\.segments\\["zone"\\]`),
    );
  });
});

describe('without VOLUME_ACCESSIBILITY_CONSTRAINTS', () => {
  const config = without('plugin', 'VOLUME_ACCESSIBILITY_CONSTRAINTS');
  const refusal =
    'expected it unset, as plugin capability VOLUME_ACCESSIBILITY_CONSTRAINTS is not advertised; found it set';

  test.each([{ requisite: [zone('a')] }, {}])(
    'CreateVolume takes no requirement, not even %j',
    (requirement) => {
      expect(verdict('CreateVolume', { accessibility_requirements: requirement }, config)).toBe(
        `INVALID_ARGUMENT accessibility_requirements: ${refusal}`,
      );
    },
  );

  test('GetCapacity takes no topology', () => {
    expect(verdict('GetCapacity', { accessible_topology: zone('a') }, config)).toBe(
      `INVALID_ARGUMENT accessible_topology: ${refusal}`,
    );
  });

  test('both go without', () => {
    expect(verdict('CreateVolume', {}, config)).toBe('OK');
    expect(verdict('GetCapacity', {}, config)).toBe('OK');
  });
});
