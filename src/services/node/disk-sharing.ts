import type { VolumeFacts } from '../../backends/backend';
import { LOOP_MAJOR } from '../../backends/disk-loops';
import { aborted, failedPrecondition } from '../../csi/status';
import { errnoOf } from '../../util/files';
import { backendOf, type Env } from '../env';
import { stagedElsewhere } from '../staged-elsewhere';
import { ownNode } from './own-node';

type Volume = VolumeFacts & Parameters<typeof backendOf>[1];

/**
 * Nodes that share a data folder may run on one kernel (in kind they do), and each decides by itself whether a disk is
 * blank and which loop device serves it: one at a time, or two would come to different conclusions.
 * @throws CsiError ABORTED when another node is at it.
 */
export async function lockDisk(env: Env, volume: Volume): Promise<() => Promise<void>> {
  if (!backendOf(env, volume).blockImage || env.nodes.others().length === 0) return async () => undefined;
  try {
    return await env.host.lockFile(`${env.layout.volume(volume.id).folder}/stage.lock`);
  } catch (error) {
    if (errnoOf(error) !== 'EAGAIN') throw error;
    throw aborted(
      `another node is staging or unstaging volume ${volume.id} on its shared disk; repeat the call when that has ended`,
    );
  }
}

/**
 * The loop device over the volume's disk that is in use already: by another node of this kernel, by a target whose stage
 * was unmounted, by a pod that outlived its stage. Two superblocks over one disk would write over each other.
 */
export async function loopInUse(env: Env, volume: Volume): Promise<number | undefined> {
  const backend = backendOf(env, volume);
  if (!backend.blockImage) return undefined;
  for (const index of await candidates(env, volume.id))
    if (await backend.loopOver(index, env.layout.volume(volume.id))) return index;
  return undefined;
}

/**
 * One superblock is read-only or it is not, for all nodes of the kernel.
 * @throws CsiError FAILED_PRECONDITION when another node has the volume the other way.
 */
export function refuseMixed(env: Env, volume: Volume, readOnly: boolean): void {
  if (!backendOf(env, volume).blockImage) return;
  const clash = stagedElsewhere(env, volume.id).find(
    ({ sameKernel, stage }) => sameKernel && stage.readOnly !== readOnly,
  );
  if (clash)
    throw failedPrecondition(
      `node ${clash.nodeId} has volume ${volume.id} mounted ${clash.stage.readOnly ? 'read-only' : 'writable'} on this same machine, ` +
        `where it cannot be ${readOnly ? 'read-only' : 'writable'} as well; attach it to both nodes alike`,
    );
}

async function candidates(env: Env, volumeId: string): Promise<Set<number>> {
  const { store } = ownNode(env);
  const found = new Set<number>();
  const known = [store.stage(volumeId)?.loopIndex, store.heldLoop(volumeId)];
  for (const { sameKernel, stage } of stagedElsewhere(env, volumeId))
    if (sameKernel) known.push(stage.loopIndex);
  for (const index of known) if (index !== undefined) found.add(index);
  for (const { targetPath } of store.publicationsOf(volumeId)) {
    const there = await env.host.mounts.look(targetPath).catch(() => undefined);
    if (there?.mount?.device.major === LOOP_MAJOR) found.add(there.mount.device.minor);
  }
  return found;
}

/** Whether another node of this machine uses the volume's disk by the same loop device. */
export function isShared(env: Env, volumeId: string): boolean {
  return stagedElsewhere(env, volumeId).some((other) => other.sameKernel);
}
