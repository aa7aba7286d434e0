import { refuseInUse } from './on-disk';
import type { DiskTarget, PreparedDisk } from './target';

/**
 * The device is write-protected, as one that its storage has locked. mount(8) would fall back to a read-only mount and
 * warn; a stage that is to be writable asks explicitly, and is refused.
 */
export async function readOnlyDevice(target: DiskTarget): Promise<PreparedDisk> {
  refuseInUse(target);
  target.effect('the device is write-protected');
  return { device: { readOnly: true } };
}
