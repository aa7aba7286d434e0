import * as fs from 'node:fs/promises';
import type { Staged, StageNote, StageOrder } from '../../backends/backend';
import { letGo } from '../../backends/let-go';
import { alreadyExists, type CsiError, failedPrecondition, invalidArgument } from '../../csi/status';
import type { MountRoot } from '../../host/host';
import { ensureFolder } from '../../util/files';
import type { StageRecord, VolumeRecord } from '../../volumes/records';
import { backendOf, type Call, type Env } from '../env';
import { sameCapability, unservable } from '../volume-capability';
import { adoptStage, keepStage, type StageOptions, stageRecord } from './adopt-stage';
import { isDead, lookThroughDead } from './dead-mounts';
import { lockDisk, loopInUse, refuseMixed } from './disk-sharing';
import { giveToGroup } from './mount-group';
import { ownNode } from './own-node';
import { checkAttached, inspectStage } from './staging';

/** Stages a volume, or finds that it is staged already. What is said about repeats: CSI 1.12, NodeStageVolume. */
export async function stageVolume(
  env: Env,
  volume: VolumeRecord,
  options: StageOptions,
  call: Call,
): Promise<Staged> {
  const { store } = ownNode(env);
  const readOnly = checkAttached(env, volume, options.publishContext) || options.capability.readOnly;
  const record = stageRecord(env, volume, options, readOnly);
  const existing = await recordedStage(env, volume, record, call);
  const problem = unservable(env, volume, options.capability);
  if (problem) throw failedPrecondition(problem);
  if (existing) {
    const staged = await inspectStage(env, volume, existing, call).catch(asMissing);
    if (staged) return staged;
  }
  if (options.implicit) ensureFolder(options.stagingPath, 0o700);
  checkFree(store.stageAt(options.stagingPath), volume);
  if (await lookAtStaging(env, options.stagingPath, call)) {
    const adopted = existing ? undefined : await adoptStage(env, volume, record, call);
    if (adopted) return adopted;
    throw alreadyExists(
      `something that is not volume ${volume.id} is mounted at ${options.stagingPath}; unmount it, it is not this driver's to remove`,
    );
  }
  const unlock = await lockDisk(env, volume);
  try {
    return await makeStage(env, volume, options, record, call);
  } catch (error) {
    if (options.implicit) await fs.rmdir(options.stagingPath).catch(() => undefined);
    throw error;
  } finally {
    await unlock();
  }
}

/** A stage that is dead is made anew; whether that can be, the mount will tell. */
function asMissing(error: unknown): undefined {
  if (!isDead((error as { cause?: unknown }).cause)) throw error;
}

async function makeStage(
  env: Env,
  volume: VolumeRecord,
  options: StageOptions,
  first: StageRecord,
  call: Call,
): Promise<Staged> {
  const { store } = ownNode(env);
  refuseMixed(env, volume, first.readOnly);
  const loop = await loopInUse(env, volume);
  let record = first;
  const note = async (facts: StageNote) => {
    record = { ...record, ...facts };
    await store.putStage(record);
  };
  let staged: Staged | undefined;
  try {
    staged = await stageDisk(
      env,
      volume,
      {
        volume,
        at: env.layout.volume(volume.id),
        stagingPath: options.stagingPath,
        accessType: options.capability.accessType,
        readOnly: first.readOnly,
        fsType: options.capability.fsType,
        mountFlags: options.mountFlags,
        loop,
        note,
      },
      call,
    );
    record = await keepStage(env, record, staged);
    if (options.capability.mountGroup !== '' && !first.readOnly)
      await giveToGroup(options.stagingPath, options.capability.mountGroup);
    await call.point('staged');
    return staged;
  } catch (error) {
    // The kubelet forgets a volume after a final error and never unstages it, so nothing may be left behind.
    if (staged) await takeBack(env, volume, record, staged, loop, call);
    store.removeStage(volume.id);
    await holdIfAlive(env, volume, record.loopIndex ?? loop);
    throw error;
  }
}

/** The stage itself, on a disk that a fault may have changed right before, and has to give back right after. */
async function stageDisk(env: Env, volume: VolumeRecord, order: StageOrder, call: Call): Promise<Staged> {
  const backend = backendOf(env, volume);
  const { at, accessType, readOnly, loop } = order;
  const prepared = await call.prepareDisk?.({
    host: env.host,
    volume,
    at,
    blockImage: backend.blockImage,
    stage: {
      accessType,
      readOnly,
      fsType: accessType === 'block' ? '' : backend.chooseFsType(order.fsType || volume.fsType),
      loop,
    },
    undoFolder: ownNode(env).store.paths.undo,
    effect: (text) => call.effect(text),
  });
  try {
    return await backend.stage({ ...order, device: prepared?.device }, call);
  } finally {
    await prepared?.undo?.().catch((error: Error) => {
      call.effect(`could not give the disk back as it was: ${error.message}`);
    });
  }
}

/** Undoes a stage that failed after the volume was in place. What goes wrong here must not hide why. */
async function takeBack(
  env: Env,
  volume: VolumeRecord,
  record: StageRecord,
  staged: Staged,
  shared: number | undefined,
  call: Call,
): Promise<void> {
  if (staged.identity) await letGo(env.host, record.stagingPath);
  if (staged.loopIndex === undefined || staged.loopIndex === shared) return;
  try {
    await backendOf(env, volume).release([staged.loopIndex], env.layout.volume(volume.id), call);
  } catch (error) {
    call.effect(`could not release /dev/loop${staged.loopIndex}: ${(error as Error).message}`);
  }
}

/** Somebody may have looked into the mount and hold it still: the next stage has to use the same superblock. */
async function holdIfAlive(env: Env, volume: VolumeRecord, loop: number | undefined): Promise<void> {
  if (loop !== undefined && (await backendOf(env, volume).loopOver(loop, env.layout.volume(volume.id))))
    ownNode(env).store.holdLoop(volume.id, loop);
}

/**
 * The stage that the volume has, as far as it is the one that is asked for. One that is recorded otherwise and was unmounted
 * behind the driver's back is forgotten: what is not there is in nobody's way.
 */
async function recordedStage(
  env: Env,
  volume: VolumeRecord,
  wanted: StageRecord,
  call: Call,
): Promise<StageRecord | undefined> {
  const { store } = ownNode(env);
  const existing = store.stage(volume.id);
  const clash = existing && clashOf(existing, wanted);
  if (!clash) return existing;
  // A target that is still mounted has the superblock as it was staged.
  if (store.publicationsOf(volume.id).length > 0) throw clash;
  if (await inspectStage(env, volume, existing, call)) throw clash;
  store.removeStage(volume.id);
  await holdIfAlive(env, volume, existing.loopIndex);
  call.effect(`forgot the stage at ${existing.stagingPath}: nothing is mounted there`);
  return undefined;
}

function clashOf(existing: StageRecord, wanted: StageRecord): CsiError | undefined {
  const { volumeId, stagingPath } = existing;
  if (stagingPath !== wanted.stagingPath)
    return failedPrecondition(
      `volume ${volumeId} is staged at ${stagingPath}; a volume has one staging path on a node, unstage it there first`,
    );
  if (existing.readOnly !== wanted.readOnly || !sameCapability(existing.capability, wanted.capability))
    return alreadyExists(
      `volume ${volumeId} is staged at ${stagingPath} with another volume_capability; unstage it first`,
    );
  return undefined;
}

/**
 * A staging path is one volume's (CSI 1.12, NodeStageVolumeRequest.staging_target_path). What is mounted there the kernel
 * tells; of a raw device there is nothing to see.
 */
function checkFree(other: StageRecord | undefined, volume: VolumeRecord): void {
  if (other && other.volumeId !== volume.id && other.capability.accessType === 'block')
    throw alreadyExists(
      `staging_target_path: volume ${other.volumeId} is staged at ${other.stagingPath} as a raw device; a staging path is for one volume, unstage that first or use another one`,
    );
}

/**
 * The staging folder is the CO's: it makes it, and removes it (CSI 1.12, NodeStageVolumeRequest.staging_target_path). The
 * kubelet and csi-sanity make it before every stage. One that is missing is refused rather than made: it is
 * a mistake of the CO, or the plugin's container does not have the kubelet's folder, and then the volume would be mounted
 * where no pod sees it.
 * @returns what is mounted there.
 */
async function lookAtStaging(env: Env, stagingPath: string, call: Call): Promise<MountRoot | null> {
  const { kind, mount } = await lookThroughDead(env, stagingPath, call);
  if (kind === 'folder') return mount;
  if (kind === 'missing')
    throw failedPrecondition(
      `staging_target_path: ${stagingPath} does not exist; the CO has to make it, where this plugin sees it`,
    );
  throw invalidArgument(
    `staging_target_path: expected a folder at ${stagingPath}, found ${kind === 'link' ? 'a symbolic link' : 'something else'}`,
  );
}
