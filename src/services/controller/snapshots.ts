import { alreadyExists, failedPrecondition, invalidArgument } from '../../csi/status';
import { snapshotPaths } from '../../volumes/layout';
import { RECORD_VERSION, type SnapshotRecord, type VolumeRecord } from '../../volumes/records';
import { backendOf, type Call, type Env, type Handler } from '../env';
import { snapshotIdFor } from '../names';
import { page } from '../paging';
import { checkSnapshotParameters, parseDuration } from '../parameters';
import { snapshotReply } from '../replies';
import { findSnapshot, findVolume } from '../resolve';
import { holdStill } from '../still';

export const createSnapshot: Handler<'CreateSnapshot'> = async (env, request, call) => {
  checkSnapshotParameters(request.parameters);
  const id = snapshotIdFor(request.name);
  const existing = env.snapshots.find(id);
  if (existing) {
    if (existing.sourceVolumeId !== request.source_volume_id)
      throw alreadyExists(
        `snapshot ${id} (${JSON.stringify(request.name)}) is one of volume ${existing.sourceVolumeId}, asked for one of ${request.source_volume_id}`,
      );
    return { snapshot: snapshotReply(env, existing) };
  }
  const volume = await findVolume(env, request.source_volume_id);
  const [snapshot] = await takeSnapshots(env, [{ volume, id, name: request.name }], request.parameters, call);
  return { snapshot: snapshot ? snapshotReply(env, snapshot) : null };
};

/** Copies the bytes of all volumes at one instant, then writes the records. All or nothing. */
export async function takeSnapshots(
  env: Env,
  wanted: readonly { volume: VolumeRecord; id: string; name: string; groupId?: string }[],
  parameters: Record<string, string>,
  call: Call,
): Promise<SnapshotRecord[]> {
  const bytes = wanted.reduce((sum, { volume }) => sum + BigInt(volume.capacityBytes), 0n);
  const release = env.pool.reserve(bytes);
  const folders = new Map<string, string>();
  const done: string[] = [];
  try {
    await call.point('beforeCut');
    const never = new AbortController().signal;
    const cutAt = await holdStill(
      env,
      wanted.map(({ volume }) => volume),
      async () => {
        const now = env.clock.now();
        for (const { volume, id } of wanted) {
          const folder = await env.snapshots.begin(id);
          folders.set(id, folder);
          await backendOf(env, volume).copy(
            volume,
            env.layout.volume(volume.id),
            snapshotPaths(folder),
            never,
          );
        }
        await call.point('copied');
        return now;
      },
    );
    await call.point('cut');
    const records: SnapshotRecord[] = [];
    for (const { volume, id, name, groupId } of wanted) {
      const record = describe(env, volume, { id, name, cutAt, parameters });
      if (groupId !== undefined) record.groupId = groupId;
      const folder = folders.get(id);
      if (folder === undefined) throw new Error(`no bytes were copied for snapshot ${id}`);
      await env.snapshots.commit(record, folder);
      folders.delete(id);
      done.push(id);
      records.push(record);
      await call.point('committed');
    }
    call.effect(`cut ${wanted.map(({ id }) => id).join(', ')}`);
    return records;
  } catch (error) {
    for (const folder of folders.values()) await env.snapshots.abandon(folder).catch(() => undefined);
    for (const id of done) await env.snapshots.remove(id).catch(() => undefined);
    throw error;
  } finally {
    release();
  }
}

function describe(
  env: Env,
  volume: VolumeRecord,
  cut: { id: string; name: string; cutAt: number; parameters: Record<string, string> },
): SnapshotRecord {
  const delay = parseDuration(cut.parameters.readyAfter ?? '0s') ?? 0;
  return {
    version: RECORD_VERSION,
    id: cut.id,
    name: cut.name,
    sequence: env.snapshots.takeSequence(),
    sourceVolumeId: volume.id,
    createdAt: new Date(cut.cutAt).toISOString(),
    sizeBytes: volume.capacityBytes,
    readyAt: new Date(cut.cutAt + delay).toISOString(),
    backend: volume.backend,
    fsType: volume.fsType,
    accessTypes: volume.accessTypes,
    parameters: cut.parameters,
    trackBlocks: cut.parameters.trackBlocks !== 'false',
    dependent: cut.parameters.dependent === 'true',
  };
}

export const deleteSnapshot: Handler<'DeleteSnapshot'> = async (env, request, call) => {
  const snapshot = env.snapshots.find(request.snapshot_id);
  if (!snapshot) return {};
  if (snapshot.groupId !== undefined)
    throw invalidArgument(
      `snapshot_id: ${snapshot.id} belongs to group snapshot ${snapshot.groupId}; delete the group with DeleteVolumeGroupSnapshot`,
    );
  checkNotInUse(env, snapshot);
  await call.point('beforeDelete');
  await env.snapshots.remove(snapshot.id);
  call.effect(`removed snapshot ${snapshot.id}`);
  return {};
};

/** @throws CsiError FAILED_PRECONDITION for a `dependent` snapshot that a volume was restored from. */
export function checkNotInUse(env: Env, snapshot: SnapshotRecord): void {
  if (!snapshot.dependent) return;
  for (const volume of env.volumes.values())
    if (isRestoredFrom(volume, snapshot))
      throw failedPrecondition(
        `snapshot ${snapshot.id} is in use: volume ${volume.id} was restored from it and depends on it; delete that volume first`,
      );
}

/** From this very snapshot, not from one that had its name before. */
function isRestoredFrom({ source }: VolumeRecord, { id, createdAt }: SnapshotRecord): boolean {
  return source?.kind === 'snapshot' && source.id === id && (source.createdAt ?? createdAt) === createdAt;
}

export const listSnapshots: Handler<'ListSnapshots'> = async (env, request) => {
  const { entries, nextToken } = page(
    'snapshots',
    await matching(env, request.snapshot_id, request.source_volume_id),
    request.max_entries,
    request.starting_token,
  );
  return {
    entries: entries.map((snapshot) => ({ snapshot: snapshotReply(env, snapshot) })),
    next_token: nextToken,
  };
};

async function matching(env: Env, snapshotId: string, sourceVolumeId: string): Promise<SnapshotRecord[]> {
  const one = snapshotId === '' ? undefined : env.snapshots.find(snapshotId);
  const candidates = snapshotId === '' ? [...env.snapshots.values()] : one ? [one] : [];
  return candidates.filter((snapshot) => sourceVolumeId === '' || snapshot.sourceVolumeId === sourceVolumeId);
}

export const getSnapshot: Handler<'GetSnapshot'> = async (env, request) => ({
  snapshot: snapshotReply(env, await findSnapshot(env, request.snapshot_id)),
});
