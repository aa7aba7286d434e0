import * as fs from 'node:fs/promises';
import type { Staged } from '../../backends/backend';
import { alreadyExists, failedPrecondition, invalidArgument } from '../../csi/status';
import { HostError, type Look, type MountRoot } from '../../host/host';
import { sameDevice } from '../../util/device';
import { ensureFolder } from '../../util/files';
import { keyOf } from '../../util/keys';
import type { NodeStore } from '../../volumes/node-store';
import {
  type CapabilityRecord,
  type NodeRecord,
  RECORD_VERSION,
  type StageRecord,
  type VolumeRecord,
} from '../../volumes/records';
import { publishContext } from '../controller/attach';
import { backendOf, type Call, type Env } from '../env';
import { stagedElsewhere } from '../staged-elsewhere';
import { isReaderOnly, sameCapability } from '../volume-capability';
import { giveToGroup } from './mount-group';

/** Major number of loop devices. */
export const LOOP_MAJOR = 7;

/** The node this process serves. */
export function ownNode(env: Env): { record: NodeRecord; store: NodeStore } {
  if (!env.node) throw new Error('the Node service runs in a process without a node');
  return env.node;
}

/** Errnos with which a mount says that what is behind it is gone (the ones the kubelet calls a corrupted mount). */
const DEAD = new Set([
  'ENOTCONN',
  'ESTALE',
  'EIO',
  'EACCES',
  'EHOSTDOWN',
  'EWOULDBLOCK',
  'EREMOTEIO',
  'ETIMEDOUT',
  'ENODEV',
]);

export const isDead = (error: unknown) => error instanceof HostError && DEAD.has(error.errno);

export interface StageOptions {
  stagingPath: string;
  implicit: boolean;
  capability: CapabilityRecord;
  mountFlags: readonly string[];
  publishContext: Record<string, string>;
}

/**
 * Whether the volume is attached to this node, as far as attaching is part of this plugin and of this volume.
 * @returns whether it is attached read-only.
 * @throws CsiError FAILED_PRECONDITION
 */
export function checkAttached(env: Env, volume: VolumeRecord, context: Record<string, string>): boolean {
  const { record: node } = ownNode(env);
  const attachment = volume.attachments[node.id];
  const needed =
    volume.origin === 'created' && env.settings.capabilities.controller.has('PUBLISH_UNPUBLISH_VOLUME');
  if (needed && !attachment)
    throw failedPrecondition(
      `volume ${volume.id} is not attached to node ${node.id}; call ControllerPublishVolume first, or run without attaching ` +
        '(--capabilities=-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES)',
    );
  const readonly = attachment?.readonly ?? context.readonly === 'true';
  const expected = publishContext(volume, node.id, readonly).attachment;
  if (context.attachment !== undefined && context.attachment !== expected)
    throw failedPrecondition(
      `publish_context["attachment"]: this is not what ControllerPublishVolume gave for volume ${volume.id} and node ${node.id}`,
    );
  return readonly;
}

/** Stages a volume, or finds that it is staged already. What is said about repeats: CSI 1.12, NodeStageVolume. */
export async function stageVolume(
  env: Env,
  volume: VolumeRecord,
  options: StageOptions,
  call: Call,
): Promise<Staged> {
  const { store } = ownNode(env);
  const backend = backendOf(env, volume);
  const at = env.layout.volume(volume.id);
  const readOnly =
    checkAttached(env, volume, options.publishContext) || isReaderOnly(options.capability.accessMode);
  const record = newRecord(env, volume, options, readOnly);

  const existing = store.stage(volume.id);
  if (existing) {
    checkRepeat(existing, record);
    const staged = await inspectStage(env, volume, existing);
    if (staged) return staged;
  }
  if (options.implicit) ensureFolder(options.stagingPath, 0o700);
  if (await lookAtStaging(env, options.stagingPath, call)) {
    const adopted = existing ? undefined : await backend.inspect(record, at);
    if (adopted) return adopt(env, record, adopted, call);
    throw alreadyExists(
      `something that is not volume ${volume.id} is mounted at ${options.stagingPath}; unmount it, it is not this driver's to remove`,
    );
  }

  // The record comes first: from here on nothing this does to the machine is without a trace.
  await store.putStage(record);
  try {
    const staged = await backend.stage(
      {
        volume,
        at,
        stagingPath: options.stagingPath,
        accessType: options.capability.accessType,
        readOnly,
        fsType: options.capability.fsType,
        mountFlags: options.mountFlags,
        sharedLoop: await loopToShare(env, volume),
      },
      call,
    );
    await noteResult(store, record, staged);
    try {
      if (options.capability.mountGroup !== '' && !readOnly)
        await giveToGroup(options.stagingPath, options.capability.mountGroup);
      await call.point('staged');
    } catch (error) {
      await backend.unstage(record, staged, at, false, call);
      throw error;
    }
    return staged;
  } catch (error) {
    // The kubelet forgets a volume after a final error and never unstages it, so nothing may be left behind.
    store.removeStage(volume.id);
    if (options.implicit) await fs.rmdir(options.stagingPath).catch(() => undefined);
    throw error;
  }
}

function newRecord(env: Env, volume: VolumeRecord, options: StageOptions, readOnly: boolean): StageRecord {
  const { store } = ownNode(env);
  const { capability } = options;
  return {
    version: RECORD_VERSION,
    volumeId: volume.id,
    bootId: store.bootId,
    stagingPath: options.stagingPath,
    implicit: options.implicit,
    readOnly,
    capability,
    backend: volume.backend,
    fsType:
      capability.accessType === 'block'
        ? ''
        : capability.fsType || volume.fsType || backendOf(env, volume).chooseFsType(''),
  };
}

function checkRepeat(existing: StageRecord, wanted: StageRecord): void {
  if (existing.stagingPath !== wanted.stagingPath)
    throw failedPrecondition(
      `volume ${existing.volumeId} is staged at ${existing.stagingPath}; a volume has one staging path on a node, unstage it there first`,
    );
  if (existing.readOnly !== wanted.readOnly || !sameCapability(existing.capability, wanted.capability))
    throw alreadyExists(
      `volume ${existing.volumeId} is staged at ${existing.stagingPath} with another volume_capability; unstage it first`,
    );
}

/** What a record's volume is in the kernel now. A dead mount counts as nothing, after it has been removed. */
export async function inspectStage(
  env: Env,
  volume: VolumeRecord,
  stage: StageRecord,
): Promise<Staged | undefined> {
  const { store } = ownNode(env);
  try {
    const seen = store.lastSeen(volume.id);
    if (seen?.identity) {
      // The very mount that was seen before needs no second proof of what is behind it.
      const { mount } = await env.host.mounts.look(stage.stagingPath);
      if (!mount) return undefined;
      if (sameMount(mount, seen.identity)) return seen;
    }
    const staged = await backendOf(env, volume).inspect(stage, env.layout.volume(volume.id));
    if (staged) store.see(volume.id, staged);
    return staged;
  } catch (error) {
    if (!isDead(error)) throw error;
    await env.host.mounts.unmount(stage.stagingPath, { lazy: true });
    return undefined;
  }
}

function sameMount(a: MountRoot, b: MountRoot): boolean {
  return a.mountId === b.mountId && a.rootInode === b.rootInode && sameDevice(a.device, b.device);
}

/**
 * The staging folder is the CO's: it makes it, and we neither make nor replace it (CSI 1.12, NodeStageVolume).
 * @returns what is mounted there.
 */
async function lookAtStaging(env: Env, stagingPath: string, call: Call): Promise<MountRoot | null> {
  const { kind, mount } = await lookThroughDead(env, stagingPath, call);
  if (kind === 'folder') return mount;
  if (kind === 'missing')
    throw failedPrecondition(`staging_target_path: there is no folder ${stagingPath}; the CO has to make it`);
  throw invalidArgument(
    `staging_target_path: expected a folder at ${stagingPath}, found ${kind === 'link' ? 'a symbolic link' : 'something else'}`,
  );
}

/** Looks at a path; a dead mount there is removed first, so that a live one can take its place. */
export async function lookThroughDead(env: Env, path: string, call: Call): Promise<Look> {
  try {
    return await env.host.mounts.look(path);
  } catch (error) {
    if (!isDead(error)) throw error;
    await env.host.mounts.unmount(path, { lazy: true });
    call.effect(`removed a dead mount from ${path}`);
    return env.host.mounts.look(path);
  }
}

/** The mount is there but its record is lost: the kernel is right, the record is written anew. */
async function adopt(env: Env, record: StageRecord, staged: Staged, call: Call): Promise<Staged> {
  const readOnly = (await env.host.mounts.at(record.stagingPath))?.readOnly ?? record.readOnly;
  if (readOnly !== record.readOnly)
    throw alreadyExists(
      `volume ${record.volumeId} is mounted at ${record.stagingPath} ${readOnly ? 'read-only' : 'writable'}; unstage it first`,
    );
  await noteResult(ownNode(env).store, record, staged);
  call.effect(`adopted the mount at ${record.stagingPath}`);
  return staged;
}

async function noteResult(store: NodeStore, record: StageRecord, staged: Staged): Promise<void> {
  const result: StageRecord = { ...record, fsType: staged.fsType };
  if (staged.loopIndex !== undefined) result.loopIndex = staged.loopIndex;
  const device = staged.identity?.device;
  const loop = { major: LOOP_MAJOR, minor: staged.loopIndex ?? -1 };
  if (device && staged.loopIndex !== undefined && !sameDevice(device, loop)) result.mountDevice = device;
  store.rememberStage(result, staged);
  // Of most mounts the kernel can tell all this again; what it cannot is written down.
  const untold = record.capability.accessType === 'block' || result.mountDevice !== undefined;
  if (untold || result.fsType !== record.fsType) await store.putStage(result);
}

/** Two nodes on one kernel must use one loop device, or two superblocks would write over each other. */
async function loopToShare(env: Env, volume: VolumeRecord): Promise<number | undefined> {
  if (!backendOf(env, volume).blockImage) return undefined;
  for (const { sameKernel, stage } of stagedElsewhere(env, volume.id)) {
    if (!sameKernel) continue;
    const index = stage.loopIndex ?? (await env.host.mounts.look(stage.stagingPath)).mount?.device.minor;
    const status = index === undefined ? null : await env.host.loops.status(index);
    const disk = await fs.stat(env.layout.volume(volume.id).disk, { bigint: true });
    if (status?.backing.inode === disk.ino) return status.index;
  }
  return undefined;
}

/** Takes a volume from its staging path and forgets it. */
export async function unstageVolume(
  env: Env,
  volume: VolumeRecord | undefined,
  stage: StageRecord,
  call: Call,
): Promise<void> {
  const { store } = ownNode(env);
  if (volume) {
    const staged = await inspectStage(env, volume, stage);
    const shared = stagedElsewhere(env, volume.id).some((other) => other.sameKernel);
    await backendOf(env, volume).unstage(stage, staged, env.layout.volume(volume.id), shared, call);
  }
  if (stage.implicit) await fs.rmdir(stage.stagingPath).catch(() => undefined);
  store.removeStage(stage.volumeId);
}

/** Where the driver stages by itself what no NodeStageVolume staged. */
export function implicitStagingPath(env: Env, volumeId: string): string {
  return `${ownNode(env).store.paths.mounts}/${keyOf(volumeId)}.stage`;
}
