import { verdict, verdictOn } from './support';

const GIB = String(1024n ** 3n);
const MAX = '9223372036854775807';
const MIN = '-9223372036854775808';

describe.each(['CreateVolume', 'ControllerExpandVolume', 'NodeExpandVolume'] as const)(
  '%s: capacity_range',
  (method) => {
    const said = (required_bytes: string, limit_bytes: string) =>
      verdict(method, { capacity_range: { required_bytes, limit_bytes } });

    test.each([
      [GIB, '0'],
      ['0', GIB],
      [GIB, GIB],
      ['1', MAX],
      [MAX, MAX],
      ['9007199254740992', '9007199254740993'],
    ])('required %s, limit %s is fine', (required, limit) => {
      expect(said(required, limit)).toBe('OK');
    });

    test.each(['-1', MIN])('%s bytes are negative', (value) => {
      expect(said(value, '0')).toBe(
        `INVALID_ARGUMENT capacity_range.required_bytes: expected zero or more bytes; found ${value}`,
      );
      expect(said('0', value)).toBe(
        `INVALID_ARGUMENT capacity_range.limit_bytes: expected zero or more bytes; found ${value}`,
      );
      expect(said(GIB, value)).toMatch(/^INVALID_ARGUMENT capacity_range\.limit_bytes/);
    });

    test('both zero say nothing', () => {
      const expected =
        'INVALID_ARGUMENT capacity_range: expected required_bytes or limit_bytes above zero; found both zero';
      expect(said('0', '0')).toBe(expected);
      expect(verdict(method, { capacity_range: {} })).toBe(expected);
    });

    test('a limit below the requirement is OUT_OF_RANGE, also where a double sees no difference', () => {
      expect(said('2', '1')).toBe(
        'OUT_OF_RANGE capacity_range: expected limit_bytes of at least required_bytes (2); found 1',
      );
      expect(said('9007199254740993', '9007199254740992')).toMatch(/^OUT_OF_RANGE /);
    });
  },
);

test.each(['CreateVolume', 'NodeExpandVolume'] as const)('%s: may come without a range', (method) => {
  expect(verdict(method, { capacity_range: null })).toBe('OK');
});

test.each([
  ['ListVolumes', 'max_entries'],
  ['ListSnapshots', 'max_entries'],
  ['GetMetadataAllocated', 'max_results'],
  ['GetMetadataDelta', 'max_results'],
] as const)('%s: %s is not negative', (method, field) => {
  expect(verdictOn(method, field, 0)).toBe('OK');
  expect(verdictOn(method, field, 2147483647)).toBe('OK');
  expect(verdictOn(method, field, -1)).toBe(`INVALID_ARGUMENT ${field}: expected zero or more; found -1`);
  expect(verdictOn(method, field, -2147483648)).toMatch(/^INVALID_ARGUMENT /);
});

test.each(['GetMetadataAllocated', 'GetMetadataDelta'] as const)(
  '%s: a negative starting_offset is OUT_OF_RANGE',
  (method) => {
    expect(verdict(method, { starting_offset: MAX })).toBe('OK');
    expect(verdict(method, { starting_offset: '-1' })).toBe(
      'OUT_OF_RANGE starting_offset: expected zero or more bytes; found -1',
    );
    expect(verdict(method, { starting_offset: MIN })).toMatch(/^OUT_OF_RANGE starting_offset/);
  },
);
