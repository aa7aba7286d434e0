import { closeSync, openSync } from 'node:fs';
import type { Mounts } from '../../src/host/host';

/** A FUSE filesystem without a server: all calls on it wait, until `die` closes the connection and they fail with ENOTCONN. */
export async function mountUnanswered(mounts: Mounts, target: string): Promise<{ die(): void }> {
  const connection = openSync('/dev/fuse', 'r+');
  await mounts.mount({
    fsType: 'fuse',
    source: 'unanswered',
    target,
    readOnly: false,
    options: [`fd=${connection}`, 'rootmode=40000', 'user_id=0', 'group_id=0'],
  });
  return { die: () => closeSync(connection) };
}

/** What is left of a FUSE filesystem whose server was killed: ENOTCONN. */
export async function mountDead(mounts: Mounts, target: string): Promise<void> {
  (await mountUnanswered(mounts, target)).die();
}
