import type { Staged } from '../../backends/backend';
import { LOOP_MAJOR } from '../../backends/disk-loops';
import { failedPrecondition } from '../../csi/status';
import type { MountRoot } from '../../host/host';
import { sameDevice } from '../../util/device';
import type { StageRecord, VolumeRecord } from '../../volumes/records';
import { attachmentOn, publishContext } from '../controller/attach';
import { backendOf, type Call, type Env } from '../env';
import { isDead, lookThroughDead } from './dead-mounts';
import { ownNode } from './own-node';

/**
 * Whether the volume is attached to this node, as far as attaching is part of this plugin and of this volume.
 * @returns whether it is attached read-only.
 * @throws CsiError FAILED_PRECONDITION
 */
export function checkAttached(env: Env, volume: VolumeRecord, context: Record<string, string>): boolean {
  const { record: node } = ownNode(env);
  const attachment = attachmentOn(volume, node.id);
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

/**
 * What a record's volume is in the kernel now; undefined when it is not there any more.
 * @throws CsiError FAILED_PRECONDITION when it is there and dead: pods may use it still, so it is not taken from them.
 */
export async function inspectStage(
  env: Env,
  volume: VolumeRecord,
  stage: StageRecord,
  call: Call,
): Promise<Staged | undefined> {
  try {
    return await inspect(env, volume, stage);
  } catch (error) {
    if (!isDead(error)) throw error;
    if (await isOwnDevice(env, volume, stage))
      throw failedPrecondition(
        `the filesystem of volume ${volume.id} is dead (${(error as Error).message}); unpublish it everywhere, then unstage and stage it again`,
        { cause: error },
      );
  }
  // Something else lies dead on the path, and may hide the volume.
  await lookThroughDead(env, stage.stagingPath, call);
  return inspect(env, volume, stage);
}

async function inspect(env: Env, volume: VolumeRecord, stage: StageRecord): Promise<Staged | undefined> {
  const { store } = ownNode(env);
  const seen = store.lastSeen(volume.id);
  if (seen?.identity) {
    const { mount } = await env.host.mounts.look(stage.stagingPath);
    if (!mount) return undefined;
    // The very mount that was seen before needs no second proof of what is behind it.
    if (sameMount(mount, seen.identity)) return seen;
  }
  const staged = await backendOf(env, volume).inspect(stage, env.layout.volume(volume.id));
  if (staged) store.see(volume.id, staged);
  return staged;
}

function sameMount(a: MountRoot, b: MountRoot): boolean {
  return a.mountId === b.mountId && a.rootInode === b.rootInode && sameDevice(a.device, b.device);
}

/** Whether the topmost mount at the staging path is of the volume's own disk: a dead one can be told by the mount table only. */
async function isOwnDevice(env: Env, volume: VolumeRecord, stage: StageRecord): Promise<boolean> {
  const table = await env.host.mounts.list();
  const top = table.findLast((entry) => entry.mountPoint === stage.stagingPath);
  if (!top || stage.loopIndex === undefined) return false;
  const own =
    sameDevice(top.device, { major: LOOP_MAJOR, minor: stage.loopIndex }) ||
    (stage.mountDevice !== undefined && sameDevice(top.device, stage.mountDevice));
  return own && backendOf(env, volume).loopOver(stage.loopIndex, env.layout.volume(volume.id));
}
