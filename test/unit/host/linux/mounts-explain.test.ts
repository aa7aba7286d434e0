import { HostError } from '../../../../src/host/host';
import { explainCreate } from '../../../../src/host/linux/mounts-explain';

const FAILURE = { fsType: 'btrfs', source: '/dev/loop3', target: '/t', optionKeys: [], kernelText: [] };
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
    'mount: /t: EINVAL (invalid argument): btrfs on /dev/loop3: ' +
      'wrong filesystem type, bad superblock, or an option it does not take',
  );
});

test('an errno nobody thought of is passed on', () => {
  expect(explainCreate(refused('EDEADLK'), FAILURE).message).toBe(
    'mount: /t: EDEADLK (resource deadlock avoided): btrfs on /dev/loop3',
  );
});
