import type { FunctionName } from './binding';
import { FSCONFIG, SYSCALL } from './constants';
import type { About } from './errno';

export const descriptor = (fd: number) => `descriptor ${fd}`;

export function ioctlCall(fd: number, request: number, argument: Buffer | number | bigint) {
  const name: FunctionName = Buffer.isBuffer(argument) ? 'ioctlPointer' : 'ioctlValue';
  return [name, [fd, request, argument]] as const;
}

export function ioctlAbout(fd: number, about: Partial<About> = {}): About {
  return { operation: about.operation ?? 'ioctl', subject: about.subject ?? descriptor(fd) };
}

export function fsconfigSetCall(fd: number, key: string, value: string | undefined) {
  const command = value === undefined ? FSCONFIG.SET_FLAG : FSCONFIG.SET_STRING;
  // The key alone: the value of a mount option may be a password.
  const about = { operation: 'fsconfig', subject: key };
  return ['fsconfig', [SYSCALL.fsconfig, fd, command, key, value ?? null, 0], about] as const;
}
