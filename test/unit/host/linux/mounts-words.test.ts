import { MOUNT_ATTR, MS, ST } from '../../../../src/host/libc';
import {
  attributesOfStatfs,
  bindAttributes,
  classicAttributeFlags,
  classicSuperblockFlags,
  newMountAttributes,
  parseWords,
} from '../../../../src/host/linux/mounts-words';

const NO_CHANGE = { set: 0, clear: 0 };

test('words go to the mount, the superblock, the filesystem, or nowhere', () => {
  const words = parseWords([
    'defaults',
    'noexec',
    'sync',
    'data=journal',
    'discard',
    '_netdev',
    'x-systemd.a=b',
  ]);
  expect(words).toEqual({
    attributes: { set: MOUNT_ATTR.NOEXEC, clear: 0 },
    readOnly: undefined,
    superblock: ['sync'],
    filesystem: [{ key: 'data', value: 'journal' }, { key: 'discard' }],
  });
});

test.each([
  ['nosuid', MOUNT_ATTR.NOSUID],
  ['nodev', MOUNT_ATTR.NODEV],
  ['noexec', MOUNT_ATTR.NOEXEC],
  ['nosymfollow', MOUNT_ATTR.NOSYMFOLLOW],
  ['nodiratime', MOUNT_ATTR.NODIRATIME],
  ['noatime', MOUNT_ATTR.NOATIME],
  ['strictatime', MOUNT_ATTR.STRICTATIME],
  ['relatime', 0],
])('%s is an attribute of the mount', (word, attribute) => {
  expect(newMountAttributes(parseWords([word]), false)).toBe(attribute);
});

test.each([
  ['nosuid,suid', 0],
  ['suid,nosuid', MOUNT_ATTR.NOSUID],
  ['noatime,strictatime', MOUNT_ATTR.STRICTATIME],
  ['strictatime,noatime,relatime', 0],
  ['noatime,nodiratime', MOUNT_ATTR.NOATIME | MOUNT_ATTR.NODIRATIME],
  ['noexec,dev,exec,nodev', MOUNT_ATTR.NODEV],
])('of contradicting words the last counts: %s', (list, attributes) => {
  expect(newMountAttributes(parseWords([list]), false)).toBe(attributes);
  expect(newMountAttributes(parseWords(list.split(',')), false)).toBe(attributes);
});

test('read-only by request wins over rw; by words the last counts', () => {
  expect(newMountAttributes(parseWords(['rw']), true)).toBe(MOUNT_ATTR.RDONLY);
  expect(parseWords(['rw', 'ro']).readOnly).toBe(true);
  expect(parseWords(['ro', 'rw']).readOnly).toBe(false);
  expect(bindAttributes(parseWords(['rw']), true)).toEqual({ set: MOUNT_ATTR.RDONLY, clear: 0 });
});

test('a bind changes only what is asked for', () => {
  expect(bindAttributes(parseWords([]), false)).toEqual(NO_CHANGE);
  expect(bindAttributes(parseWords(['sync', 'data=journal']), false)).toEqual(NO_CHANGE);
  expect(bindAttributes(parseWords(['rw']), false)).toEqual({ set: 0, clear: MOUNT_ATTR.RDONLY });
  expect(bindAttributes(parseWords(['exec']), false)).toEqual({ set: 0, clear: MOUNT_ATTR.NOEXEC });
  // mount_setattr(2): an access-time value is set only together with clearing the whole field.
  expect(bindAttributes(parseWords(['noatime']), false)).toEqual({
    set: MOUNT_ATTR.NOATIME,
    clear: MOUNT_ATTR.ATIME_MASK,
  });
});

test('a comma in quotes belongs to the value, an equals sign after the first as well', () => {
  expect(parseWords(['context="u:r:t:s0:c1,c2",a==b,empty='])).toMatchObject({
    filesystem: [
      { key: 'context', value: 'u:r:t:s0:c1,c2' },
      { key: 'a', value: '=b' },
      { key: 'empty', value: '' },
    ],
  });
  expect(parseWords(['', ',', ' noexec , ']).attributes.set).toBe(MOUNT_ATTR.NOEXEC);
});

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  '%s is an option like any other',
  (word) => {
    expect(parseWords([word]).filesystem).toEqual([{ key: word }]);
  },
);

test('mount(2) gets the same as flags', () => {
  expect(classicAttributeFlags(0)).toBe(MS.RELATIME);
  expect(classicAttributeFlags(MOUNT_ATTR.RDONLY | MOUNT_ATTR.NOATIME)).toBe(MS.RDONLY | MS.NOATIME);
  expect(classicAttributeFlags(MOUNT_ATTR.STRICTATIME | MOUNT_ATTR.NODIRATIME)).toBe(
    MS.STRICTATIME | MS.NODIRATIME,
  );
  expect(classicSuperblockFlags(['sync', 'lazytime', 'async'])).toBe(MS.LAZYTIME);
});

test('flags of a mount survive a remount', () => {
  const flags = BigInt(ST.RDONLY | ST.NOEXEC | ST.NOSUID | ST.NODEV | ST.NODIRATIME | ST.RELATIME);
  expect(classicAttributeFlags(attributesOfStatfs(flags))).toBe(
    MS.RDONLY | MS.NOEXEC | MS.NOSUID | MS.NODEV | MS.NODIRATIME | MS.RELATIME,
  );
  expect(classicAttributeFlags(attributesOfStatfs(BigInt(ST.NOATIME)))).toBe(MS.NOATIME);
  expect(classicAttributeFlags(attributesOfStatfs(0n))).toBe(MS.STRICTATIME);
});
