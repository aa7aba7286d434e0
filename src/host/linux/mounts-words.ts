import { MOUNT_ATTR, MS, ST } from '../libc';

/** What a list of mount(8) words asks of the mount, of the superblock and of the filesystem. */
export interface MountWords {
  /** MOUNT_ATTR bits, as mount_setattr(2) takes them. `ro` and `rw` are not among them. */
  attributes: { set: number; clear: number };
  /** By the last of `ro` and `rw`; undefined when neither is there. */
  readOnly: boolean | undefined;
  /** Words every filesystem knows (`sync`, `lazytime`, …), in order. */
  superblock: string[];
  /** Everything else, for the filesystem to take or refuse, in order. */
  filesystem: { key: string; value?: string }[];
}

/** A bit goes into `clear` with its opposite word; the access-time words are values of one field. */
const PER_MOUNT: Readonly<Record<string, { set: number; clear: number }>> = {
  nosuid: { set: MOUNT_ATTR.NOSUID, clear: 0 },
  suid: { set: 0, clear: MOUNT_ATTR.NOSUID },
  nodev: { set: MOUNT_ATTR.NODEV, clear: 0 },
  dev: { set: 0, clear: MOUNT_ATTR.NODEV },
  noexec: { set: MOUNT_ATTR.NOEXEC, clear: 0 },
  exec: { set: 0, clear: MOUNT_ATTR.NOEXEC },
  nosymfollow: { set: MOUNT_ATTR.NOSYMFOLLOW, clear: 0 },
  symfollow: { set: 0, clear: MOUNT_ATTR.NOSYMFOLLOW },
  nodiratime: { set: MOUNT_ATTR.NODIRATIME, clear: 0 },
  diratime: { set: 0, clear: MOUNT_ATTR.NODIRATIME },
  noatime: { set: MOUNT_ATTR.NOATIME, clear: MOUNT_ATTR.ATIME_MASK },
  strictatime: { set: MOUNT_ATTR.STRICTATIME, clear: MOUNT_ATTR.ATIME_MASK },
  // The kernel's default is relatime, so all words that take another choice back mean it.
  relatime: { set: MOUNT_ATTR.RELATIME, clear: MOUNT_ATTR.ATIME_MASK },
  atime: { set: MOUNT_ATTR.RELATIME, clear: MOUNT_ATTR.ATIME_MASK },
  norelatime: { set: MOUNT_ATTR.RELATIME, clear: MOUNT_ATTR.ATIME_MASK },
  nostrictatime: { set: MOUNT_ATTR.RELATIME, clear: MOUNT_ATTR.ATIME_MASK },
};

/** Superblock words with the mount(2) flag each sets or clears; fsconfig(2) takes the words themselves. */
const SUPERBLOCK: Readonly<Record<string, { set: number; clear: number }>> = {
  sync: { set: MS.SYNCHRONOUS, clear: 0 },
  async: { set: 0, clear: MS.SYNCHRONOUS },
  dirsync: { set: MS.DIRSYNC, clear: 0 },
  lazytime: { set: MS.LAZYTIME, clear: 0 },
  nolazytime: { set: 0, clear: MS.LAZYTIME },
  mand: { set: MS.MANDLOCK, clear: 0 },
  nomand: { set: 0, clear: MS.MANDLOCK },
};

/** Words for mount(8) and fstab(5) themselves, which no kernel ever sees. */
const FOR_MOUNT_ITSELF = new Set(['defaults', 'auto', 'noauto', 'nouser', 'nofail', '_netdev']);
const isForMountItself = (word: string) =>
  FOR_MOUNT_ITSELF.has(word) || /^x-/i.test(word) || word.startsWith('comment=');

/** `options` are words or comma-separated lists of words; a later word overrides an earlier one. */
export function parseWords(options: readonly string[]): MountWords {
  const words: MountWords = {
    attributes: { set: 0, clear: 0 },
    readOnly: undefined,
    superblock: [],
    filesystem: [],
  };
  for (const word of options.flatMap(splitAtCommas)) {
    const perMount = Object.hasOwn(PER_MOUNT, word) ? PER_MOUNT[word] : undefined;
    if (perMount !== undefined) {
      words.attributes.set = (words.attributes.set & ~perMount.clear) | perMount.set;
      words.attributes.clear |= perMount.clear;
    } else if (word === 'ro' || word === 'rw') words.readOnly = word === 'ro';
    else if (Object.hasOwn(SUPERBLOCK, word)) words.superblock.push(word);
    else if (!isForMountItself(word)) words.filesystem.push(splitAtEquals(word));
  }
  return words;
}

/** A comma inside double quotes belongs to the value (SELinux contexts); the quotes do not. */
function splitAtCommas(list: string): string[] {
  const words = list.match(/(?:"[^"]*"|[^,])+/g) ?? [];
  return words.map((word) => word.trim().replace(/="([^"]*)"$/, '=$1')).filter((word) => word !== '');
}

function splitAtEquals(word: string): { key: string; value?: string } {
  const at = word.indexOf('=');
  return at === -1 ? { key: word } : { key: word.slice(0, at), value: word.slice(at + 1) };
}

/** MOUNT_ATTR bits of a new mount: what is not asked for is off. */
export function newMountAttributes(words: MountWords, readOnly: boolean): number {
  return words.attributes.set | (readOnly ? MOUNT_ATTR.RDONLY : 0);
}

/** What a bind changes on the copy of the source's mount: what is not asked for stays as the source has it. */
export function bindAttributes(words: MountWords, readOnly: boolean): { set: number; clear: number } {
  const { set, clear } = words.attributes;
  if (readOnly || words.readOnly === true) return { set: set | MOUNT_ATTR.RDONLY, clear };
  return words.readOnly === false ? { set, clear: clear | MOUNT_ATTR.RDONLY } : { set, clear };
}

const ATTRIBUTE_FLAGS: readonly (readonly [attribute: number, flag: number])[] = [
  [MOUNT_ATTR.RDONLY, MS.RDONLY],
  [MOUNT_ATTR.NOSUID, MS.NOSUID],
  [MOUNT_ATTR.NODEV, MS.NODEV],
  [MOUNT_ATTR.NOEXEC, MS.NOEXEC],
  [MOUNT_ATTR.NOSYMFOLLOW, MS.NOSYMFOLLOW],
  [MOUNT_ATTR.NODIRATIME, MS.NODIRATIME],
];

/** MOUNT_ATTR bits as mount(2) flags. */
export function classicAttributeFlags(attributes: number): number {
  let flags = 0;
  for (const [attribute, flag] of ATTRIBUTE_FLAGS) if ((attributes & attribute) !== 0) flags |= flag;
  const accessTime = attributes & MOUNT_ATTR.ATIME_MASK;
  if (accessTime === MOUNT_ATTR.NOATIME) return flags | MS.NOATIME;
  return flags | (accessTime === MOUNT_ATTR.STRICTATIME ? MS.STRICTATIME : MS.RELATIME);
}

/** Superblock words as mount(2) flags. */
export function classicSuperblockFlags(superblock: readonly string[]): number {
  return superblock.reduce((flags, word) => {
    const change = SUPERBLOCK[word];
    return change === undefined ? flags : (flags & ~change.clear) | change.set;
  }, 0);
}

/** The flags a mount has (statfs(2) f_flags), as the MOUNT_ATTR bits that keep them across an MS_REMOUNT. */
export function attributesOfStatfs(flags: bigint): number {
  const has = (flag: number) => (Number(flags) & flag) !== 0;
  return (
    (has(ST.RDONLY) ? MOUNT_ATTR.RDONLY : 0) |
    (has(ST.NOSUID) ? MOUNT_ATTR.NOSUID : 0) |
    (has(ST.NODEV) ? MOUNT_ATTR.NODEV : 0) |
    (has(ST.NOEXEC) ? MOUNT_ATTR.NOEXEC : 0) |
    (has(ST.NOSYMFOLLOW) ? MOUNT_ATTR.NOSYMFOLLOW : 0) |
    (has(ST.NODIRATIME) ? MOUNT_ATTR.NODIRATIME : 0) |
    (has(ST.NOATIME) ? MOUNT_ATTR.NOATIME : has(ST.RELATIME) ? MOUNT_ATTR.RELATIME : MOUNT_ATTR.STRICTATIME)
  );
}
