import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import * as path from 'node:path';
import { keyOf } from '../../../src/util/keys';
import type { TestDriver } from '../../support/driver';
import type { Kind } from '../../support/kinds';
import { type UsedVolume, use } from '../../support/lifecycle';
import { run } from '../../support/run';

export const snapshotDisk = (driver: TestDriver, id: string) =>
  path.join(driver.dataDir, 'snapshots', keyOf(id), 'disk.img');

export const volumeDisk = (driver: TestDriver, id: string) =>
  path.join(driver.dataDir, 'volumes', keyOf(id), 'disk.img');

/** @returns its id. */
export async function snapshot(driver: TestDriver, of: UsedVolume): Promise<string> {
  const { snapshot: made } = await driver.csi.CreateSnapshot({
    source_volume_id: of.id,
    name: `snapshot-${randomUUID()}`,
  });
  return made?.snapshot_id ?? '';
}

/** A new volume with the content of a snapshot, published. */
export function restored(
  driver: TestDriver,
  kind: Kind,
  snapshotId: string,
  size = kind.size,
): Promise<UsedVolume> {
  return use(driver, { ...kind.options(), size, source: { snapshot: { snapshot_id: snapshotId } } });
}

/** The journal of an ext4 that was frozen for its copy is empty. */
export function expectNoRecovery(disk: string): void {
  expect(run('dumpe2fs', '-h', disk)).not.toContain('needs_recovery');
}

/** A process that writes and syncs all the time, until told to end. */
export class Writer {
  private constructor(private readonly child: ReturnType<typeof spawn>) {}

  /** `script` is for bash, and prints something once it is under way. */
  static async start(script: string, ...args: string[]): Promise<Writer> {
    const child = spawn('bash', ['-c', script, 'writer', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return new Writer(child);
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
