import * as fs from 'node:fs/promises';
import type { Staged } from '../../backends/backend';
import { letGo } from '../../backends/let-go';
import type { RequestOf } from '../../csi/rpcs';
import { alreadyExists, failedPrecondition, internal, invalidArgument } from '../../csi/status';
import { sameDevice } from '../../util/device';
import {
  type CapabilityRecord,
  type PublicationRecord,
  RECORD_VERSION,
  type VolumeRecord,
} from '../../volumes/records';
import { backendOf, type Call, type Env, type Handler } from '../env';
import { makeVolume, resolveVolume, undoingNew } from '../resolve';
import { digestMap, recordOf, requireCapability, unservable } from '../volume-capability';
import { adoptStage, stageRecord } from './adopt-stage';
import { lookThroughDead } from './dead-mounts';
import { giveToGroup } from './mount-group';
import { ownMount } from './own-mounts';
import { implicitStagingPath, ownNode } from './own-node';
import { checkOutsideData, checkOutsideStage } from './places';
import { protectDevice } from './protect-device';
import { checkAgainstOthers } from './second-publish';
import { stageVolume } from './stage-volume';
import { checkAttached, inspectStage } from './staging';
import { makeTarget } from './target';
import { knownVolume, unstageVolume } from './unstage-volume';

type Request = RequestOf<'NodePublishVolume'>;

const EPHEMERAL_KEY = 'csi.storage.k8s.io/ephemeral';
const POD_KEYS = /^csi\.storage\.k8s\.io\/(pod\.(name|namespace|uid)|serviceAccount\.name)$/;
/** Changes at every republish (CSIDriver.requiresRepublish) and is a credential besides. */
const TOKENS_KEY = 'csi.storage.k8s.io/serviceAccount.tokens';

export const nodePublishVolume: Handler<'NodePublishVolume'> = async (env, request, call) => {
  await undoingNew(env, request.volume_id, () => publishVolume(env, request, call));
  return {};
};

async function publishVolume(env: Env, request: Request, call: Call): Promise<void> {
  const requested = requireCapability(request.volume_capability);
  const capability = recordOf(requested);
  checkOutsideData(env, 'target_path', request.target_path);
  checkOutsideStage(request.target_path, request.staging_target_path);
  const volume = await volumeToPublish(env, request);
  try {
    const record = newRecord(env, request, volume, capability);
    await checkAgainstOthers(env, record, call);
    const problem = unservable(env, volume, capability);
    if (problem) throw failedPrecondition(problem);
    const staged = await stagedFor(env, request, volume, capability, call);
    record.readOnly ||= ownNode(env).store.stage(volume.id)?.readOnly === true;
    if (!(await isPublished(env, volume, record, staged, call)))
      await publish(env, volume, record, staged, requested.mount?.mount_flags ?? [], call);
  } catch (error) {
    await undoImplicit(env, volume.id, call).catch((second) =>
      env.log.error({ volume_id: volume.id, error: String(second) }, 'could not undo a failed publish'),
    );
    throw error;
  }
}

async function volumeToPublish(env: Env, request: Request): Promise<VolumeRecord> {
  if (request.volume_context[EPHEMERAL_KEY] !== 'true')
    return resolveVolume(env, request.volume_id, request.volume_context);
  return (
    env.volumes.find(request.volume_id) ??
    makeVolume(env, request.volume_id, 'ephemeral', request.volume_context)
  );
}

function newRecord(
  env: Env,
  request: Request,
  volume: VolumeRecord,
  capability: CapabilityRecord,
): PublicationRecord {
  const { [TOKENS_KEY]: _tokens, ...context } = request.volume_context;
  return {
    version: RECORD_VERSION,
    volumeId: volume.id,
    bootId: ownNode(env).store.bootId,
    targetPath: request.target_path,
    stagingPath: request.staging_target_path,
    readOnly: request.readonly || capability.readOnly,
    requestedReadOnly: request.readonly,
    ephemeral: volume.origin === 'ephemeral',
    capability,
    volumeContextDigest: digestMap(context),
    publishContextDigest: digestMap(request.publish_context),
    pod: Object.fromEntries(Object.entries(context).filter(([key]) => POD_KEYS.test(key))),
  };
}

/** The stage a publish stands on: the CO's, which must really be mounted, or one of our own. */
async function stagedFor(
  env: Env,
  request: Request,
  volume: VolumeRecord,
  capability: CapabilityRecord,
  call: Call,
): Promise<Staged> {
  const { store } = ownNode(env);
  const staging = env.settings.capabilities.node.has('STAGE_UNSTAGE_VOLUME') && volume.origin !== 'ephemeral';
  if (!staging) {
    const mountFlags = request.volume_capability?.mount?.mount_flags ?? [];
    return stageVolume(
      env,
      volume,
      {
        stagingPath: implicitStagingPath(env, volume.id),
        implicit: true,
        capability,
        mountFlags,
        publishContext: request.publish_context,
      },
      call,
    );
  }
  if (request.staging_target_path === '')
    throw failedPrecondition(
      'staging_target_path: expected the path that NodeStageVolume was given, found nothing; this plugin has STAGE_UNSTAGE_VOLUME',
    );
  const path = request.staging_target_path;
  const stage = store.stage(volume.id) ?? (await adopted(env, request, volume, capability, call));
  const unstaged = () =>
    failedPrecondition(`volume ${volume.id} is not staged at ${path}; call NodeStageVolume first`);
  if (!stage || stage.stagingPath !== path) throw unstaged();
  if (stage.capability.accessType !== capability.accessType)
    throw failedPrecondition(
      `volume ${volume.id} is staged as ${stage.capability.accessType}, asked to publish as ${capability.accessType}`,
    );
  const staged = await inspectStage(env, volume, stage, call);
  if (!staged) throw unstaged();
  if (staged.identity && !stage.readOnly && !request.readonly && (await isReadOnlyNow(env, path)))
    throw failedPrecondition(
      `volume ${volume.id} was staged writable at ${path} but is read-only now; its filesystem may have failed, stage it anew`,
    );
  return staged;
}

/** A stage whose record was lost while the volume is staged: the CO will not stage it a second time. */
async function adopted(
  env: Env,
  request: Request,
  volume: VolumeRecord,
  capability: CapabilityRecord,
  call: Call,
) {
  const options = {
    stagingPath: request.staging_target_path,
    implicit: false,
    capability,
    mountFlags: [],
    publishContext: request.publish_context,
  };
  const readOnly = checkAttached(env, volume, request.publish_context) || capability.readOnly;
  await lookThroughDead(env, options.stagingPath, call);
  await adoptStage(env, volume, stageRecord(env, volume, options, readOnly), call);
  return ownNode(env).store.stage(volume.id);
}

/**
 * Whether the target already is what is asked for. Only the kernel can tell: a record without its mount means that the
 * mount was removed behind our back, and it is made again; a dead one is replaced.
 */
async function isPublished(
  env: Env,
  volume: VolumeRecord,
  record: PublicationRecord,
  staged: Staged,
  call: Call,
): Promise<boolean> {
  const { store } = ownNode(env);
  const target = record.targetPath;
  const look = await lookThroughDead(env, target, call);
  if (look.kind === 'link')
    throw invalidArgument(`target_path: ${target} is a symbolic link; it is neither followed nor replaced`);
  if (!look.mount) return false;
  const own = await ownMount(env, volume.id, target, look);
  if (!own)
    throw alreadyExists(
      `something that is not volume ${volume.id} is mounted at ${target}; unmount it first`,
    );
  if (own.loopIndex !== staged.loopIndex) {
    // A node of the device that served the volume before it was staged anew.
    await env.host.mounts.unmount(target);
    call.effect(`unmounted a device from ${target} that serves the volume no more`);
    return isPublished(env, volume, record, staged, call);
  }
  if (staged.identity) {
    const readOnly = await isReadOnlyNow(env, target);
    if (readOnly !== record.readOnly)
      throw alreadyExists(
        `volume ${volume.id} is mounted at ${target} ${readOnly ? 'read-only' : 'writable'}; unpublish it first`,
      );
  }
  if (!store.publication(target)) await store.putPublication(record);
  await protectDevice(env, volume.id);
  return true;
}

/** Whether writes to a mount are refused now, whatever it was mounted as. */
async function isReadOnlyNow(env: Env, path: string): Promise<boolean> {
  return (await env.host.mounts.at(path))?.readOnly === true;
}

async function publish(
  env: Env,
  volume: VolumeRecord,
  record: PublicationRecord,
  staged: Staged,
  mountFlags: readonly string[],
  call: Call,
): Promise<void> {
  const { store } = ownNode(env);
  const { mounts } = env.host;
  const target = record.targetPath;
  const source = staged.devicePath ?? store.stage(volume.id)?.stagingPath;
  if (source === undefined) throw internal(`volume ${volume.id} lost its stage while it was being published`);
  await store.putPublication(record);
  await protectDevice(env, volume.id);
  let made = false;
  let mounted = false;
  try {
    const { mountGroup, accessType } = record.capability;
    // Normally done at stage; another pod may come with a group of its own before the stage has ended.
    if (mountGroup !== '' && !record.readOnly) await giveToGroup(source, mountGroup);
    made = await makeTarget(target, accessType);
    await call.point('beforeMount');
    await mounts.bind({ source, target, readOnly: record.readOnly, options: mountFlags });
    mounted = true;
    call.effect(`bound ${source} at ${target}`);
    await call.point('mounted');
    const { mount: found } = await mounts.look(target);
    if (!found || (staged.identity && !sameDevice(found.device, staged.identity.device)))
      throw internal(
        `${source} was bound at ${target}, but ${found ? 'another device' : 'nothing'} is mounted there`,
      );
  } catch (error) {
    if (mounted) await letGo(env.host, target);
    if (made)
      await (record.capability.accessType === 'mount' ? fs.rmdir(target) : fs.unlink(target)).catch(
        () => undefined,
      );
    store.removePublication(target);
    await protectDevice(env, volume.id).catch(() => undefined);
    throw error;
  }
}

/** Ends what only a publish needed: a stage of our own, and an inline volume. Nobody else will. */
export async function undoImplicit(env: Env, volumeId: string, call: Call): Promise<void> {
  const { store } = ownNode(env);
  if (store.publicationsOf(volumeId).length > 0) return;
  const stage = store.stage(volumeId);
  if (stage?.implicit) await unstageVolume(env, volumeId, stage.stagingPath, call);
  const volume = knownVolume(env, volumeId);
  if (volume?.origin !== 'ephemeral') return;
  await backendOf(env, volume).destroy(volume);
  await env.volumes.remove(volume.id);
  call.effect(`removed inline volume ${volume.id}`);
}
