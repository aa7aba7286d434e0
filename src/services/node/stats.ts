import type { Staged } from '../../backends/backend';
import type { RequestOf, ResponseOf } from '../../csi/rpcs';
import { notFound, unavailable } from '../../csi/status';
import type { MountIdentity } from '../../host/host';
import type { StageRecord, VolumeRecord } from '../../volumes/records';
import { backendOf, type Env, type Handler } from '../env';
import { nodeLock } from '../lock-keys';
import { fitString } from '../replies';
import { findVolume } from '../resolve';
import { isDead } from './dead-mounts';
import { ownNode } from './own-node';

const BYTES = 1;
const INODES = 2;
/** A statfs that takes longer is taken for a hung one: the kubelet asks again every minute and must not pile up. */
const PATIENCE_MS = 10_000;

type Reply = ResponseOf<'NodeGetVolumeStats'>;

/** One question at a time per path; who asks meanwhile gets the same answer. */
export function statsHandler(): Handler<'NodeGetVolumeStats'> {
  const pending = new Map<string, Promise<Reply>>();
  return async (env, request, call) => {
    const volume = await findVolume(env, request.volume_id);
    const stage = stageAt(env, volume, request);
    const path = request.volume_path;
    let answer = pending.get(path);
    if (!answer) {
      const settled = () => {
        call.assertFree?.(nodeLock(volume.id));
        return stageAt(env, volume, request);
      };
      answer = measure(env, volume, stage, path, settled).finally(() => pending.delete(path));
      // It may end after everybody has gone.
      answer.catch(() => undefined);
      pending.set(path, answer);
    }
    const timer = new AbortController();
    try {
      return await Promise.race([answer, tooLong(env, path, timer.signal)]);
    } finally {
      timer.abort();
    }
  };
}

async function tooLong(env: Env, path: string, signal: AbortSignal): Promise<Reply> {
  await env.clock.sleep(PATIENCE_MS, signal);
  return abnormal(env, `${path} did not answer for ${PATIENCE_MS / 1000} s; its disk may hang`);
}

/** @throws CsiError NOT_FOUND when the volume is neither staged nor published at that path. */
function stageAt(env: Env, volume: VolumeRecord, request: RequestOf<'NodeGetVolumeStats'>): StageRecord {
  const { store } = ownNode(env);
  const stage = store.stage(volume.id);
  const known =
    stage?.stagingPath === request.volume_path ||
    store.publication(request.volume_path)?.volumeId === volume.id;
  if (!stage || !known)
    throw notFound(
      `volume ${volume.id} is neither staged nor published at ${JSON.stringify(request.volume_path)}`,
    );
  return stage;
}

/**
 * Takes no lock, since a statfs that hangs must not keep the volume from being taken down: so it may be taken down meanwhile.
 * @param settled the stage as it is now. Throws where the volume is gone from the path, or is on its way to or from there.
 */
async function measure(
  env: Env,
  volume: VolumeRecord,
  stage: StageRecord,
  path: string,
  settled: () => StageRecord,
): Promise<Reply> {
  const backend = backendOf(env, volume);
  let mounted: MountIdentity | null = null;
  try {
    mounted = await env.host.mounts.at(path);
    const raw = stage.capability.accessType === 'block';
    // Nothing is mounted at the staging path of a raw device.
    if (!mounted && !(raw && path === stage.stagingPath)) {
      const now = settled();
      // Taken down and put up again while this looked.
      if (await env.host.mounts.at(path)) return measure(env, volume, now, path, settled);
      return abnormal(env, `nothing is mounted at ${path}`);
    }
    const staged: Staged = { fsType: stage.fsType };
    if (mounted && !raw) staged.identity = mounted;
    if (stage.loopIndex !== undefined) staged.loopIndex = stage.loopIndex;
    const usage = await backend.usage(volume, staged, path);
    // Unmounted in between, the path is one of the filesystem below, and so is what it says.
    if ((await env.host.mounts.at(path))?.mountId !== mounted?.mountId)
      return measure(env, volume, settled(), path, settled);
    const readOnly =
      mounted?.readOnly === true && !stage.readOnly && !ownNode(env).store.publication(path)?.readOnly;
    return {
      usage:
        'deviceBytes' in usage
          ? [{ unit: BYTES, total: `${usage.deviceBytes}` }]
          : [entry(BYTES, usage.bytes), entry(INODES, usage.inodes)],
      ...condition(env, readOnly, readOnly ? 'the filesystem became read-only' : 'the volume is healthy'),
    };
  } catch (error) {
    if (isDead(error)) return abnormal(env, error instanceof Error ? error.message : String(error));
    // An unmount takes the folder along: whatever the path was asked then, it was not there.
    const now = settled();
    const mount = await env.host.mounts.at(path);
    if (mount !== null && mount.mountId !== mounted?.mountId) return measure(env, volume, now, path, settled);
    throw error;
  }
}

function entry(
  unit: typeof BYTES | typeof INODES,
  usage: { total: bigint; available: bigint; used: bigint },
) {
  return { unit, total: `${usage.total}`, available: `${usage.available}`, used: `${usage.used}` };
}

/** A volume in trouble is an answer where conditions are spoken, and an error where they are not. */
function abnormal(env: Env, message: string): Reply {
  if (!env.settings.capabilities.node.has('VOLUME_CONDITION')) throw unavailable(message);
  return condition(env, true, message);
}

function condition(env: Env, isAbnormal: boolean, message: string): Reply {
  if (!env.settings.capabilities.node.has('VOLUME_CONDITION')) return {};
  return { volume_condition: { abnormal: isAbnormal, message: fitString(message) } };
}
