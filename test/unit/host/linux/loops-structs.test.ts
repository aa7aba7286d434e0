import { decodeLoopInfo, emptyLoopInfo, encodeLoopConfig } from '../../../../src/host/linux/loops-structs';

test('LOOP_CONFIGURE gets the descriptor, the flags and a name that fits', () => {
  const config = encodeLoopConfig(77, `/a/${'long/'.repeat(30)}disk.img`, {
    readOnly: true,
    autoclear: true,
  });
  expect(config).toHaveLength(304);
  expect(config.readUInt32LE(0)).toBe(77);
  const info = decodeLoopInfo(config.subarray(8, 240));
  expect(info).toMatchObject({ readOnly: true, autoclear: true });
  expect(info.fileName).toHaveLength(63);
  // No direct I/O, no partition scan.
  expect(config.readUInt32LE(8 + 52)).toBe(1 | 4);
});

test.each([true, false])('flags say what was asked for (%s)', (value) => {
  const config = encodeLoopConfig(3, '/disk', { readOnly: value, autoclear: !value });
  expect(decodeLoopInfo(config.subarray(8))).toMatchObject({
    readOnly: value,
    autoclear: !value,
    fileName: '/disk',
  });
});

test('the backing file is read as the kernel encodes it', () => {
  const info = emptyLoopInfo();
  expect(info).toHaveLength(232);
  info.writeBigUInt64LE((259n << 8n) | 5n | (3n << 20n), 0);
  info.writeBigUInt64LE(1n << 40n, 8);
  expect(decodeLoopInfo(info)).toMatchObject({
    device: { major: 259, minor: 5 + (3 << 8) },
    inode: 1n << 40n,
  });
});
