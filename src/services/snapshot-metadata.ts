import { BlockMetadataType } from '../csi/gen/csi/v1/BlockMetadataType';
import type { ResponseOf } from '../csi/rpcs';
import { failedPrecondition, invalidArgument, outOfRange } from '../csi/status';
import type { Extent } from '../host/host';
import type { SnapshotRecord } from '../volumes/records';
import { backendOf, type Env, type StreamHandler } from './env';
import { findSnapshot } from './resolve';

/** Tuples in one message when the client does not say. */
const DEFAULT_RESULTS = 256;
/** Tuples in one message at most, whatever the client takes: gRPC takes messages of 4 MiB, and a tuple has up to 24 bytes. */
const MOST_RESULTS = 65_536;
/** Granularity of a comparison; the file systems' own block size. */
const BLOCK_BYTES = 4096;

type Message = ResponseOf<'GetMetadataAllocated'>;

/** The extents of the snapshot's file that hold data, from the file system itself (SEEK_DATA, SEEK_HOLE). */
export const getMetadataAllocated: StreamHandler<'GetMetadataAllocated'> = async function* (
  env,
  request,
  call,
) {
  const snapshot = await findSnapshot(env, request.snapshot_id);
  checkImage(env, snapshot);
  const from = checkOffset(snapshot, request.starting_offset);
  const extents = env.host.disks.extents(env.layout.snapshot(snapshot.id).disk, from);
  yield* messages(snapshot, extents, request.max_results, call.signal);
};

/** The ranges in which the target's bytes differ from the base's, found by comparing them. */
export const getMetadataDelta: StreamHandler<'GetMetadataDelta'> = async function* (env, request, call) {
  const base = await findSnapshot(env, request.base_snapshot_id);
  const target = await findSnapshot(env, request.target_snapshot_id);
  if (base.sourceVolumeId !== target.sourceVolumeId)
    throw invalidArgument(
      `target_snapshot_id: expected a snapshot of volume ${base.sourceVolumeId} like the base, found one of ${target.sourceVolumeId}`,
    );
  for (const snapshot of [base, target]) {
    checkImage(env, snapshot);
    if (!snapshot.trackBlocks)
      throw failedPrecondition(
        `changed blocks are not tracked for snapshot ${snapshot.id}: it was cut with trackBlocks: false`,
      );
  }
  const from = checkOffset(target, request.starting_offset);
  const { disk: basis } = env.layout.snapshot(base.id);
  const extents = env.host.disks.differences(basis, env.layout.snapshot(target.id).disk, BLOCK_BYTES, from);
  yield* messages(target, extents, request.max_results, call.signal);
};

function checkImage(env: Env, snapshot: SnapshotRecord): void {
  if (backendOf(env, snapshot).blockImage) return;
  throw failedPrecondition(
    `snapshot ${snapshot.id} is a file tree (backend ${snapshot.backend}) and has no blocks; use backend loop`,
  );
}

function checkOffset(snapshot: SnapshotRecord, offset: string): bigint {
  const from = BigInt(offset);
  if (from > BigInt(snapshot.sizeBytes))
    throw outOfRange(
      `starting_offset: expected at most ${snapshot.sizeBytes}, the size of ${snapshot.id}, found ${offset}`,
    );
  return from;
}

async function* messages(
  snapshot: SnapshotRecord,
  extents: AsyncIterable<Extent>,
  maxResults: number,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const size = BigInt(snapshot.sizeBytes);
  const most = Math.min(maxResults > 0 ? maxResults : DEFAULT_RESULTS, MOST_RESULTS);
  const message = (tuples: { byte_offset: string; size_bytes: string }[]): Message => ({
    block_metadata_type: BlockMetadataType.VARIABLE_LENGTH,
    volume_capacity_bytes: snapshot.sizeBytes,
    block_metadata: tuples,
  });
  let tuples: { byte_offset: string; size_bytes: string }[] = [];
  let sent = 0;
  for await (const { offset, length } of extents) {
    if (signal.aborted) return;
    // The file is whole blocks, the volume may end inside the last one.
    const end = offset + length < size ? offset + length : size;
    if (end <= offset) break;
    tuples.push({ byte_offset: `${offset}`, size_bytes: `${end - offset}` });
    if (tuples.length === most) {
      yield message(tuples);
      sent += 1;
      tuples = [];
    }
  }
  // One message even when there is nothing to tell: it carries the capacity.
  if (tuples.length > 0 || sent === 0) yield message(tuples);
}
