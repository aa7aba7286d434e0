import { sameDevice, splitDevice } from '../../../src/util/device';

test.each([
  [0n, 0, 0],
  [0x0701n, 7, 1],
  [0xfd00n, 253, 0],
  // Minor numbers above 255 have their upper bits above the major's.
  [0x1000000n + 0x700n, 7, 4096],
  [0x12345n << 12n, 0, 0],
])('st_dev %d', (dev, major, minor) => {
  if (major === 0 && dev !== 0n) {
    // Whatever the bits, two numbers that differ stay different.
    expect(sameDevice(splitDevice(dev), splitDevice(0n))).toBe(false);
    return;
  }
  expect(splitDevice(dev)).toEqual({ major, minor });
});

test('devices are the same when both numbers are', () => {
  expect(sameDevice({ major: 7, minor: 1 }, { major: 7, minor: 1 })).toBe(true);
  expect(sameDevice({ major: 7, minor: 1 }, { major: 7, minor: 2 })).toBe(false);
  expect(sameDevice({ major: 7, minor: 1 }, { major: 8, minor: 1 })).toBe(false);
});
