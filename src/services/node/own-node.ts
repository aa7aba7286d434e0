import { keyOf } from '../../util/keys';
import type { NodeStore } from '../../volumes/node-store';
import type { NodeRecord } from '../../volumes/records';
import type { Env } from '../env';

/** The node this process serves. */
export function ownNode(env: Env): { record: NodeRecord; store: NodeStore } {
  if (!env.node) throw new Error('the Node service runs in a process without a node');
  return env.node;
}

/** Where the driver stages by itself what no NodeStageVolume staged. */
export function implicitStagingPath(env: Env, volumeId: string): string {
  return `${ownNode(env).store.paths.mounts}/${keyOf(volumeId)}.stage`;
}
