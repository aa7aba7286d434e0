import { keyOf } from '../../util/keys';
import type { DiskTarget, PreparedDisk } from './target';

/** Below /dev, where a CO's people look for devices; nothing ever makes a node there. */
const BY_ID = '/dev/disk/by-id';

/** The device never appeared on the node. The disk itself is as it was, also when another node has it mounted. */
export async function missing({ volume, effect }: DiskTarget): Promise<PreparedDisk> {
  const name = /^[\w.-]{1,100}$/.test(volume.id) ? volume.id : keyOf(volume.id);
  const device = `${BY_ID}/fake-csi-${name}`;
  effect(`the disk is missing: looked for as ${device}`);
  return { device: { missing: device } };
}
