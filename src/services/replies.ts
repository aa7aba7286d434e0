import type { Snapshot } from '../csi/gen/csi/v1/Snapshot';
import type { Volume } from '../csi/gen/csi/v1/Volume';
import type { Timestamp } from '../csi/gen/google/protobuf/Timestamp';
import type { SnapshotRecord, VolumeRecord } from '../volumes/records';
import type { Env } from './env';

const MAX_STRING_BYTES = 128;

export function timestamp(iso: string): Timestamp {
  const ms = Date.parse(iso);
  return { seconds: `${Math.floor(ms / 1000)}`, nanos: (ms % 1000) * 1_000_000 };
}

/** csi.v1.Volume: the same for one volume id in every answer. */
export function volumeReply(env: Env, volume: VolumeRecord): Volume {
  const topologies = env.settings.capabilities.plugin.has('VOLUME_ACCESSIBILITY_CONSTRAINTS')
    ? volume.topology
    : [];
  const reply: Volume = {
    capacity_bytes: volume.capacityBytes,
    volume_id: volume.id,
    volume_context: volume.context,
    accessible_topology: topologies.map((segments) => ({ segments })),
  };
  if (volume.source?.kind === 'snapshot')
    reply.content_source = { snapshot: { snapshot_id: volume.source.id } };
  if (volume.source?.kind === 'volume') reply.content_source = { volume: { volume_id: volume.source.id } };
  return reply;
}

export function isReady(env: Env, snapshot: SnapshotRecord): boolean {
  return env.clock.now() >= Date.parse(snapshot.readyAt);
}

export function snapshotReply(env: Env, snapshot: SnapshotRecord): Snapshot {
  return {
    size_bytes: snapshot.sizeBytes,
    snapshot_id: snapshot.id,
    source_volume_id: snapshot.sourceVolumeId,
    creation_time: timestamp(snapshot.createdAt),
    ready_to_use: isReady(env, snapshot),
    group_snapshot_id: snapshot.groupId ?? '',
  };
}

/** Cuts a message to the 128 bytes that the specification allows a string field, at a whole character. */
export function fitString(text: string): string {
  if (Buffer.byteLength(text) <= MAX_STRING_BYTES) return text;
  // No character is longer than its bytes, so the first so many are enough to choose from.
  const characters = [...text.slice(0, MAX_STRING_BYTES)];
  while (Buffer.byteLength(characters.join('')) > MAX_STRING_BYTES - Buffer.byteLength('…')) characters.pop();
  return `${characters.join('')}…`;
}
