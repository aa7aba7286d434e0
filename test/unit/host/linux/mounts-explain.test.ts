import { HostError } from '../../../../src/host/host';
import { explainCreate } from '../../../../src/host/linux/mounts-explain';

const FAILURE = {
  fsType: 'btrfs',
  source: '/dev/loop3',
  target: '/t',
  readOnly: false,
  optionKeys: [],
  kernelText: [],
};
const refused = (errno: string) => new HostError(errno, 'fsconfig', `fsconfig: create: ${errno}`);

// Texts of kernels whose filesystems see their options only when the superblock is made.
test.each([
  ["unrecognized mount option 'wibble'", ['noacl', 'wibble'], 'wibble'],
  ['Unrecognized mount option "wibble=3" or missing value', ['wibble'], 'wibble'],
  ['invalid logbufs value: 99 [not 2-8]', ['logbsize', 'logbufs'], 'logbufs'],
  ["Unknown parameter 'log-bufs'", ['log', 'log-bufs'], 'log-bufs'],
  ['bad geometry: block count 5 exceeds size of device', ['data'], undefined],
  ['superblock checksum mismatch', ['super'], undefined],
  ['unrecognized mount option', ['a.c', 'abc'], undefined],
])('the option refused in "%s" among %j', (text, optionKeys, option) => {
  const error = explainCreate(refused('EINVAL'), { ...FAILURE, optionKeys, kernelText: [text] });
  expect(error.option).toBe(option);
  expect(error.message).toContain(text);
});

test('without any text the message still says what, where and what to think of', () => {
  const error = explainCreate(refused('EINVAL'), FAILURE);
  expect(error).toMatchObject({ errno: 'EINVAL', operation: 'mount', option: undefined });
  expect(error.message).toBe(
    'mount: /t: wrong fs type, bad option, bad superblock on /dev/loop3, missing codepage or helper program, ' +
      'or other error. btrfs on /dev/loop3: EINVAL (invalid argument)',
  );
});

test('an errno nobody thought of is passed on', () => {
  expect(explainCreate(refused('EDEADLK'), FAILURE).message).toBe(
    'mount: /t: btrfs on /dev/loop3: EDEADLK (resource deadlock avoided)',
  );
});

// The sentences that mount(8) of util-linux 2.38 has for them, seen on Linux 6.18 (ext4, xfs, btrfs on a loop device).
test.each([
  ['EBADMSG', false, 'cannot mount; probably corrupted filesystem on /dev/loop3.'],
  ['EUCLEAN', false, 'mount(2) system call failed: Structure needs cleaning.'],
  ['EIO', false, "can't read superblock on /dev/loop3."],
  ['EROFS', true, 'cannot mount /dev/loop3 read-only.'],
  ['EACCES', true, 'cannot mount /dev/loop3 read-only.'],
  ['EACCES', false, '/dev/loop3 is write-protected but explicit read-write mode requested.'],
  ['EROFS', false, '/dev/loop3 is write-protected but explicit read-write mode requested.'],
])('%s, read-only %s, in the words of mount(8)', (errno, readOnly, sentence) => {
  const error = explainCreate(refused(errno), { ...FAILURE, readOnly });
  expect(error.message.startsWith(`mount: /t: ${sentence}`)).toBe(true);
});

test('a device that is not there is told from a path in an option', () => {
  const absent = { ...FAILURE, source: '/dev/no-such-device' };
  expect(explainCreate(refused('ENOENT'), absent).message).toContain(
    'special device /dev/no-such-device does not exist.',
  );
  const there = explainCreate(refused('ENOENT'), { ...FAILURE, source: '/dev/null' });
  expect(there.message).not.toContain('special device');
});
