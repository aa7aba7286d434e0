import fc from 'fast-check';
import { formatInt64, parseInt64 } from '../../../src/csi/int64';
import { Code } from '../../../src/csi/status';

const max = 9223372036854775807n;
const min = -9223372036854775808n;

test('every int64 survives the way to the wire and back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min, max }), (value) => {
      expect(parseInt64('capacity', formatInt64('capacity', value))).toBe(value);
    }),
  );
});

test.each([
  ['9007199254740993', 9007199254740993n],
  ['1152921504606846976', 1n << 60n],
  [`${max}`, max],
  [`${min}`, min],
  ['0', 0n],
])('parses %s exactly', (text, value) => {
  expect(parseInt64('required_bytes', text)).toBe(value);
});

test.each([
  '',
  ' 1',
  '1 ',
  '1.0',
  '1e3',
  '0x10',
  'NaN',
  '--1',
  '+1',
  '9223372036854775808',
  '-9223372036854775809',
  '1'.repeat(100),
])('refuses %j as INVALID_ARGUMENT and names the field', (text) => {
  expect(() => parseInt64('capacity_range.limit_bytes', text)).toThrow(
    expect.objectContaining({
      code: Code.INVALID_ARGUMENT,
      message: expect.stringMatching(/^capacity_range\.limit_bytes: expected a 64-bit integer; found "/),
    }),
  );
});

test('a message stays short however long the junk', () => {
  expect(() => parseInt64('f', 'x'.repeat(1_000_000))).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^.{0,150}$/) }),
  );
});

test.each([max + 1n, min - 1n])('a reply of %d is a mistake of ours: INTERNAL', (value) => {
  expect(() => formatInt64('volume.capacity_bytes', value)).toThrow(
    expect.objectContaining({
      code: Code.INTERNAL,
      message: `volume.capacity_bytes: expected a reply within 64 bits; found ${value}`,
    }),
  );
});
