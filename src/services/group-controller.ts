import type { VolumeGroupSnapshot } from '../csi/gen/csi/v1/VolumeGroupSnapshot';
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from '../csi/status';
import { type GroupRecord, RECORD_VERSION, type SnapshotRecord } from '../volumes/records';
import { checkNotInUse, takeSnapshots } from './controller/snapshots';
import type { Env, Handler } from './env';
import { groupIdFor, memberIdFor } from './names';
import { checkSnapshotParameters } from './parameters';
import { isReady, snapshotReply, timestamp } from './replies';
import { findVolume } from './resolve';
import { digestMap } from './volume-capability';

export const createVolumeGroupSnapshot: Handler<'CreateVolumeGroupSnapshot'> = async (env, request, call) => {
  checkSnapshotParameters(request.parameters);
  const ids = request.source_volume_ids;
  if (new Set(ids).size !== ids.length)
    throw invalidArgument('source_volume_ids: expected each volume once, found one twice');
  const id = groupIdFor(request.name);
  const existing = env.groups.find(id);
  if (existing) {
    if (
      !sameIds(existing.sourceVolumeIds, ids) ||
      digestMap(existing.parameters) !== digestMap(request.parameters)
    )
      throw alreadyExists(
        `group snapshot ${id} (${JSON.stringify(request.name)}) exists with other sources or parameters: ${existing.sourceVolumeIds.join(', ')}`,
      );
    return { group_snapshot: replyOf(env, existing) };
  }
  const wanted = [];
  for (const volumeId of ids) {
    const volume = await findVolume(env, volumeId);
    if (volume.parameters.groupable === 'false')
      throw failedPrecondition(
        `volume ${volume.id} was created with groupable: false and cannot be part of a group snapshot`,
      );
    const memberId = memberIdFor(request.name, volumeId);
    wanted.push({ volume, id: memberId, name: memberId, groupId: id });
  }
  const members = await takeSnapshots(env, wanted, request.parameters, call);
  const group: GroupRecord = {
    version: RECORD_VERSION,
    id,
    name: request.name,
    sequence: env.groups.takeSequence(),
    createdAt: members[0]?.createdAt ?? new Date(env.clock.now()).toISOString(),
    sourceVolumeIds: ids,
    snapshotIds: members.map((member) => member.id),
    parameters: request.parameters,
  };
  try {
    await call.point('membersCut');
    // Members whose group has no record are undone at the next start: the group comes into being with this write.
    await env.groups.commit(group, await env.groups.begin(id));
  } catch (error) {
    for (const member of members) await env.snapshots.remove(member.id);
    throw error;
  }
  return { group_snapshot: reply(env, group, members) };
};

export const deleteVolumeGroupSnapshot: Handler<'DeleteVolumeGroupSnapshot'> = async (env, request, call) => {
  const group = env.groups.find(request.group_snapshot_id);
  if (!group) {
    // A delete that failed behind the group's own record left members; the repeat is what takes them away.
    for (const member of [...env.snapshots.values()])
      if (member.groupId === request.group_snapshot_id) await env.snapshots.remove(member.id);
    return {};
  }
  checkMembers(group, request.snapshot_ids);
  const members = membersOf(env, group);
  for (const member of members) checkNotInUse(env, member);
  await call.point('beforeDelete');
  await env.groups.remove(group.id);
  await call.point('groupRemoved');
  for (const member of members) await env.snapshots.remove(member.id);
  call.effect(`removed group snapshot ${group.id}`);
  return {};
};

export const getVolumeGroupSnapshot: Handler<'GetVolumeGroupSnapshot'> = async (env, request) => {
  const group = env.groups.find(request.group_snapshot_id);
  // An unknown group is NOT_FOUND whatever ids come with it: csi-sanity sends none.
  if (!group) throw notFound(`group snapshot ${JSON.stringify(request.group_snapshot_id)} does not exist`);
  checkMembers(group, request.snapshot_ids);
  return { group_snapshot: replyOf(env, group) };
};

function checkMembers(group: GroupRecord, ids: readonly string[]): void {
  if (!sameIds(group.snapshotIds, ids))
    throw invalidArgument(
      `snapshot_ids: group snapshot ${group.id} has ${group.snapshotIds.join(', ')}, found ${ids.join(', ') || 'none'}`,
    );
}

/** The same ids in any order, each once. */
function sameIds(a: readonly string[], b: readonly string[]): boolean {
  const set = new Set(b);
  return a.length === b.length && a.every((id) => set.delete(id));
}

function membersOf(env: Env, group: GroupRecord): SnapshotRecord[] {
  const found = group.snapshotIds.map((id) => env.snapshots.find(id));
  return found.filter((member) => member !== undefined);
}

function replyOf(env: Env, group: GroupRecord): VolumeGroupSnapshot {
  return reply(env, group, membersOf(env, group));
}

function reply(env: Env, group: GroupRecord, members: readonly SnapshotRecord[]): VolumeGroupSnapshot {
  return {
    group_snapshot_id: group.id,
    snapshots: members.map((member) => snapshotReply(env, member)),
    creation_time: timestamp(group.createdAt),
    ready_to_use: members.every((member) => isReady(env, member)),
  };
}
