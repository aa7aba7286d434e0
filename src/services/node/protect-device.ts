import type { Env } from '../env';
import { isShared } from './disk-sharing';
import { ownNode } from './own-node';

/**
 * A read-only bind of a device node keeps nobody from writing to the device: the device itself has to refuse it. There is one
 * for all targets, so it refuses writes while every one of them is read-only.
 */
export async function protectDevice(env: Env, volumeId: string): Promise<void> {
  const { store } = ownNode(env);
  const stage = store.stage(volumeId);
  if (stage?.capability.accessType !== 'block' || stage.loopIndex === undefined) return;
  // Attached read-only, it is that for everybody; another node's pods may have it for writing.
  if (stage.readOnly || isShared(env, volumeId)) return;
  const targets = store.publicationsOf(volumeId);
  const readOnly = targets.length > 0 && targets.every((target) => target.readOnly);
  await env.host.loops.setReadOnly(stage.loopIndex, readOnly);
}
