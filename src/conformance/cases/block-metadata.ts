import * as fs from 'node:fs/promises';
import type { ClientResponseOf } from '../../csi/rpcs';
import type { MadeVolume, Probe } from '../probe';
import { at } from '../scratch';

type Message = ClientResponseOf<'GetMetadataAllocated'>;

const FIXED_LENGTH = 1;

const KIB = 1024;
/** Where blocks are written before a snapshot is cut, and how much at each place. */
const WRITTEN_AT = [1024 * KIB, 5 * 1024 * KIB];
const PIECE = Buffer.alloc(64 * KIB, 0x11);

/** A snapshot, of a volume for raw block access with something written to it where there is such, and its size. */
export async function cut(probe: Probe, more?: Record<string, string>) {
  const volume = await probe.blockVolume();
  await write(probe, volume);
  const { snapshot_id, size_bytes } = await probe.snapshot(volume.id, more);
  return { id: volume.id, snapshot_id, bytes: BigInt(size_bytes) || volume.bytes };
}

/** As a workload with the raw device would. */
async function write(probe: Probe, volume: MadeVolume): Promise<void> {
  if (!probe.facts.node) return;
  const published = await probe.publish(await probe.stage(volume));
  if ((await at(published.target))?.isBlockDevice()) {
    const device = await fs.open(published.target, 'r+');
    try {
      for (const offset of WRITTEN_AT) await device.write(PIECE, 0, PIECE.length, offset);
      await device.sync();
    } finally {
      await device.close();
    }
  }
  await probe.unpublish(published);
  await probe.unstage(published);
  await probe.detach(published);
}

export const tuplesOf = (messages: readonly Message[]) =>
  messages.flatMap(({ block_metadata }) => block_metadata);

/** What holds for every stream. `most` tuples in a message; 0 is any number. */
export function checkStream(probe: Probe, messages: readonly Message[], most: number): void {
  const [first] = messages;
  if (!first) return;
  const about = ({ block_metadata_type, volume_capacity_bytes }: Message) => [
    block_metadata_type,
    volume_capacity_bytes,
  ];
  for (const message of messages) {
    probe.same(about(message), about(first), 'type and capacity');
    const { length } = message.block_metadata;
    probe.that(most === 0 || length <= most, `${most} tuples at most in a message`, `${length}`);
  }
  let end = 0n;
  for (const { byte_offset, size_bytes } of tuplesOf(messages)) {
    const [offset, size] = [BigInt(byte_offset), BigInt(size_bytes)];
    probe.that(size > 0n, 'size_bytes above 0', `${size} at ${offset}`);
    probe.that(offset >= end, `a tuple behind the one that ends at ${end}`, `one at ${offset}`);
    end = offset + size;
  }
  const capacity = BigInt(first.volume_capacity_bytes);
  probe.that(end <= capacity, `tuples within ${capacity} bytes`, `one that ends at ${end}`);
  const sizes = new Set(tuplesOf(messages).map(({ size_bytes }) => size_bytes));
  if (first.block_metadata_type === FIXED_LENGTH)
    probe.that(sizes.size <= 1, 'tuples of one size, since they are FIXED_LENGTH', [...sizes]);
}
