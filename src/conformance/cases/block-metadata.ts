import type { ClientResponseOf } from '../../csi/rpcs';
import type { Probe } from '../probe';

type Message = ClientResponseOf<'GetMetadataAllocated'>;

const FIXED_LENGTH = 1;

/** A snapshot, of a volume for raw block access where there is such, and its size. */
export async function cut(probe: Probe, more?: Record<string, string>) {
  const { id, bytes } = await probe.blockVolume();
  const { snapshot_id, size_bytes } = await probe.snapshot(id, more);
  return { id, snapshot_id, bytes: BigInt(size_bytes) || bytes };
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
