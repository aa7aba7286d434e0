import { HostError } from '../host';
import { isErrno, type Libc, O } from '../libc';

/**
 * Runs programs that write to a disk file, with a lock on it that they have too (as descriptor 3): a program outlives a
 * driver that is killed, and a disk that is mounted while resize2fs works on it is lost.
 * @throws HostError EAGAIN while programs of an earlier driver still work on it.
 */
export async function claimed(libc: Libc, file: string, work: (fd: number) => Promise<void>): Promise<void> {
  const fd = await libc.open(file, O.RDWR);
  try {
    lock(libc, fd, file);
    await work(fd);
  } finally {
    await libc.close(fd);
  }
}

/** @throws HostError EAGAIN while a program works on the open disk file. The file is not locked afterwards. */
export function assertUnclaimed(libc: Libc, fd: number, file: string): void {
  // A loop device keeps the open file, and with it the lock, until it is detached.
  if (lock(libc, fd, file)) libc.unlockSync(fd);
}

/** @returns whether the file is locked now: not every filesystem has locks, and where there are none nothing is claimed. */
function lock(libc: Libc, fd: number, file: string): boolean {
  try {
    libc.lockSync(fd);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOLCK', 'ENOSYS', 'EOPNOTSUPP', 'EBADF')) return false;
    if (!isErrno(error, 'EAGAIN')) throw error;
    const why =
      'a filesystem tool that an earlier driver started still works on it; try again when it has ended';
    throw new HostError('EAGAIN', 'flock', `${file}: ${why}`);
  }
}
