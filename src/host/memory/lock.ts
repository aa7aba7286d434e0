import * as fs from 'node:fs/promises';
import { HostError } from '../host';

/**
 * A lock by process id, for machines without flock(2) at hand: the file holds the id of the process that has it, and a
 * process that is gone has nothing. `held` tells two holders in this process apart.
 */
export async function lockByPid(file: string, held: Set<string>): Promise<() => Promise<void>> {
  const owner = Number(await fs.readFile(file, 'utf8').catch(() => ''));
  const other = Number.isSafeInteger(owner) && owner > 0 && owner !== process.pid && isAlive(owner);
  if (other || held.has(file))
    throw new HostError('EAGAIN', 'lock', `lock: ${file}: process ${other ? owner : process.pid} has it`);
  held.add(file);
  try {
    await fs.writeFile(file, `${process.pid}`, { mode: 0o600 });
  } catch (error) {
    held.delete(file);
    throw error;
  }
  return async () => {
    held.delete(file);
    await fs.rm(file, { force: true });
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be signalled, and is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
