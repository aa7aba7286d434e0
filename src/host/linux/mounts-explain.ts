import { HostError } from '../host';
import { describeErrno } from '../libc';

/** All that is known about a mount that failed. */
export interface MountFailure {
  fsType: string;
  source: string;
  target: string;
  /** Keys of the options the filesystem was given, in order. */
  optionKeys: readonly string[];
  /** The key refused, where the kernel refused it by itself. */
  refused?: string;
  /** The kernel's own words, best first. */
  kernelText: readonly string[];
}

/** What an errno means when it comes from creating a superblock, said about the device or the options. */
const CREATE_REASONS: Readonly<Record<string, string>> = {
  EINVAL: 'wrong filesystem type, bad superblock, or an option it does not take',
  EUCLEAN: 'the filesystem is damaged; a file system check may repair it',
  EBADMSG: 'a checksum does not match: the filesystem is damaged; a file system check may repair it',
  EIO: 'its superblock cannot be read',
  EBUSY: 'the device is in use, or mounted already with the other of read-only and read-write',
  ENOENT: 'the device, or something an option names, does not exist',
  ENOTBLK: 'it is not a block device',
  ENXIO: 'the device has nothing behind it (a loop device that is not attached)',
  EACCES: 'the device is read-only; mount it read-only',
  EROFS: 'the device is read-only, and its journal would have to be written',
  EPERM: 'mounting it asks for CAP_SYS_ADMIN in the initial user namespace',
};

/** `mount: /target: EINVAL (invalid argument): ext4 on /dev/loop3: <reason>: <the kernel's words>`. */
export function explainCreate(error: HostError, failure: MountFailure): HostError {
  const option = failure.refused ?? optionInText(failure);
  const reason =
    option === undefined
      ? CREATE_REASONS[error.errno]
      : `the filesystem does not take the option "${option}"`;
  return explained(error, failure, reason, option);
}

export function unknownType({ fsType, source, target }: MountFailure): HostError {
  const known = '/proc/filesystems lists those it has';
  return new HostError(
    'ENODEV',
    'mount',
    `mount: ${target}: ENODEV: unknown filesystem type ${JSON.stringify(fsType)} for ${source}: ` +
      `the kernel neither has it nor finds a module for it (${known})`,
  );
}

function explained(error: HostError, failure: MountFailure, reason: string | undefined, option?: string) {
  const { target, fsType, source, kernelText } = failure;
  const parts = [`mount: ${target}: ${describeErrno(error.errno)}`, `${fsType} on ${source}`];
  if (reason !== undefined) parts.push(reason);
  if (kernelText.length > 0) parts.push(kernelText.join('; '));
  return new HostError(error.errno, 'mount', parts.join(': '), option);
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
