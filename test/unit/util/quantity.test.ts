import { formatQuantity, parseQuantity } from '../../../src/util/quantity';

test.each([
  ['0', 0n],
  ['1073741824', 1n << 30n],
  ['1Gi', 1n << 30n],
  ['1G', 1_000_000_000n],
  ['1.5Gi', 1_610_612_736n],
  ['0.5k', 500n],
  ['1.0000001k', 1001n],
  ['10Mi', 10n << 20n],
  ['1Ki', 1024n],
  ['7Ei', 7n << 60n],
  ['9223372036854775807', (1n << 63n) - 1n],
  [' 1Gi ', 1n << 30n],
])('%j is %d bytes', (text, bytes) => {
  expect(parseQuantity(text)).toBe(bytes);
});

test.each([
  '',
  'Gi',
  '-1',
  '+1',
  '1 Gi',
  '1gi',
  '1K',
  '1KI',
  '1Mib',
  '1.Gi',
  '.5Gi',
  '0x10',
  '1e',
  '8Ei',
  '9223372036854775808',
  'NaN',
  '1Gi2',
])('%j is no quantity', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test.each([
  [1n << 30n, '1Gi'],
  [5n << 30n, '5Gi'],
  [1536n << 20n, '1536Mi'],
  [1024n, '1Ki'],
  [1000n, '1000'],
  [0n, '0'],
  [1n << 62n, '4Ei'],
])('%d bytes are written as %s, and read back as the same', (bytes, text) => {
  expect(formatQuantity(bytes)).toBe(text);
  expect(parseQuantity(text)).toBe(bytes);
});
