import { existsSync } from 'node:fs';
import { HostError } from '../host';
import { describeErrno } from '../libc';

/** All that is known about a mount that failed. */
export interface MountFailure {
  fsType: string;
  source: string;
  target: string;
  readOnly: boolean;
  /** Keys of the options the filesystem was given, in order. */
  optionKeys: readonly string[];
  /** The key refused, where the kernel refused it by itself. */
  refused?: string;
  /** The kernel's own words, best first. */
  kernelText: readonly string[];
}

/**
 * What an errno of creating a superblock means, in the sentences of mount(8) (util-linux 2.38): COs, dashboards and
 * people search for these. A driver that forks mount(8) hands on nothing else.
 */
function sentenceOf(errno: string, { fsType, source, readOnly }: MountFailure): string | undefined {
  switch (errno) {
    case 'EINVAL':
      return `wrong fs type, bad option, bad superblock on ${source}, missing codepage or helper program, or other error`;
    case 'EBADMSG':
      return `cannot mount; probably corrupted filesystem on ${source}`;
    case 'EUCLEAN':
      return 'mount(2) system call failed: Structure needs cleaning';
    case 'EIO':
      return `can't read superblock on ${source}`;
    case 'EEXIST':
      return 'mount(2) system call failed: File exists';
    case 'EBUSY':
      return `${source} is in use, or mounted already with the other of read-only and read-write`;
    case 'ENOENT':
      return source.startsWith('/') && !existsSync(source)
        ? `special device ${source} does not exist`
        : 'something an option names does not exist';
    case 'ENOTBLK':
      return `${source} is not a block device`;
    case 'ENXIO':
      return `${source} is not a valid block device: nothing is attached to it`;
    case 'EACCES':
    case 'EROFS':
      return readOnly
        ? `cannot mount ${source} read-only`
        : `${source} is write-protected but explicit read-write mode requested`;
    case 'EPERM':
      return `mounting ${fsType} asks for CAP_SYS_ADMIN in the initial user namespace`;
    default:
      return undefined;
  }
}

/** `mount: /target: <mount(8)'s sentence>. ext4 on /dev/loop3: EINVAL (invalid argument): <the kernel's words>`. */
export function explainCreate(error: HostError, failure: MountFailure): HostError {
  const { target, fsType, source, kernelText } = failure;
  const option = failure.refused ?? optionInText(failure);
  const sentence =
    option === undefined
      ? sentenceOf(error.errno, failure)
      : `the filesystem does not take the option "${option}"`;
  const facts = [`${fsType} on ${source}`, describeErrno(error.errno)];
  if (kernelText.length > 0) facts.push(kernelText.join('; '));
  const said = sentence === undefined ? '' : `${sentence}. `;
  return new HostError(error.errno, 'mount', `mount: ${target}: ${said}${facts.join(': ')}`, option);
}

export function unknownType({
  fsType,
  source,
  target,
}: Pick<MountFailure, 'fsType' | 'source' | 'target'>): HostError {
  const known = '/proc/filesystems lists those it has';
  return new HostError(
    'ENODEV',
    'mount',
    `mount: ${target}: ENODEV: unknown filesystem type ${JSON.stringify(fsType)} for ${source}: ` +
      `the kernel neither has it nor finds a module for it (${known})`,
  );
}

/**
 * Filesystems that see their options only when the superblock is created (all before their move to the fs context,
 * btrfs before Linux 6.8) name the refused one in the log: `unrecognized mount option 'foo'`, `invalid logbufs value`.
 */
function optionInText({ optionKeys, kernelText }: MountFailure): string | undefined {
  for (const text of kernelText) {
    if (!/option|parameter|value|unrecognized|unknown/i.test(text)) continue;
    const named = optionKeys.find((key) =>
      new RegExp(`(?<![\\w-])${escapeRegExp(key)}(?![\\w-])`).test(text),
    );
    if (named !== undefined) return named;
  }
  return undefined;
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
