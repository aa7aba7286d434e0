import fc from 'fast-check';
import { HostError } from '../../../../src/host/host';
import { parseMountinfo } from '../../../../src/host/linux/mountinfo';

test('a line has a number of optional fields', () => {
  const text = [
    '36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors=continue',
    '40 36 0:41 / /private ro,relatime - tmpfs tmpfs rw,size=8192k',
    '41 36 7:1048 / /shared rw shared:12 - xfs /dev/loop1048 rw,attr2',
    '',
  ].join('\n');
  expect(parseMountinfo(text)).toEqual([
    {
      mountId: 36n,
      parentId: 35n,
      device: { major: 98, minor: 0 },
      root: '/mnt1',
      mountPoint: '/mnt2',
      options: ['rw', 'noatime'],
      fsType: 'ext3',
      source: '/dev/root',
      superOptions: ['rw', 'errors=continue'],
      propagation: ['master:1', 'propagate_from:2'],
    },
    expect.objectContaining({ mountPoint: '/private', propagation: [], options: ['ro', 'relatime'] }),
    expect.objectContaining({ device: { major: 7, minor: 1048 }, propagation: ['shared:12'] }),
  ]);
});

test.each([
  ['a space', '/a\\040b', '/a b'],
  ['a tab', '/a\\011b', '/a\tb'],
  ['a newline', '/a\\012b', '/a\nb'],
  ['a backslash', '/a\\134b', '/a\\b'],
  ['a hash', '/a\\043b', '/a#b'],
  ['a backslash before digits', '/a\\134040b', '/a\\040b'],
  ['letters beyond ASCII', '/añb', '/añb'],
  ['a hyphen that is the whole name', '/-', '/-'],
])('%s in a path', (_, written, meant) => {
  const [entry] = parseMountinfo(`1 0 0:1 ${written} ${written} rw - tmpfs ${written} rw`);
  expect(entry).toMatchObject({ root: meant, mountPoint: meant, source: meant });
});

test('a removed root keeps the mark no path can have', () => {
  const [entry] = parseMountinfo('1 0 0:1 /gone//deleted /here rw - ext4 /dev/sda rw');
  expect(entry?.root).toBe('/gone//deleted');
});

test('an empty source, a namespace file as root, and a type with a subtype', () => {
  expect(parseMountinfo('1 0 0:4 net:[4026531840] /run/netns/a rw shared:1 - nsfs nsfs rw')[0]?.root).toBe(
    'net:[4026531840]',
  );
  expect(parseMountinfo('1 0 0:1 / /t rw - fuse.sshfs  rw,user_id=0')[0]).toMatchObject({
    fsType: 'fuse.sshfs',
    source: '',
    superOptions: ['rw', 'user_id=0'],
  });
});

test.each([
  '36 35 98:0 / /mnt rw ext4 /dev/sda rw',
  '36 35 98 / /mnt rw - ext4 a rw',
  'nonsense',
  '1 0 0:1 / /t rw -',
])('the line "%s" is refused, not guessed at', (line) => {
  expect(() => parseMountinfo(line)).toThrow(HostError);
});

test('whatever the kernel escapes comes back', () => {
  const asKernelDoes = (text: string) =>
    text.replace(/[ \t\n\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  const path = fc.string({ unit: fc.constantFrom(...' \t\n\\#-aé0,:=') }).map((text) => `/${text}`);
  fc.assert(
    fc.property(
      path,
      path,
      fc.array(fc.constantFrom('shared:1', 'master:2', 'unbindable')),
      (root, target, tags) => {
        const line = [
          '5 4 8:1',
          asKernelDoes(root),
          asKernelDoes(target),
          'rw',
          ...tags,
          '-',
          'ext4',
          asKernelDoes(root),
          'rw',
        ].join(' ');
        expect(parseMountinfo(`${line}\n`)).toEqual([
          expect.objectContaining({ root, mountPoint: target, source: root, propagation: tags }),
        ]);
      },
    ),
  );
});
