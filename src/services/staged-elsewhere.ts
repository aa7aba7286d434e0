import { keyOf } from '../util/keys';
import { readRecord, UnreadableRecord } from '../volumes/record-file';
import type { NodeRecord, StageRecord } from '../volumes/records';
import type { Env } from './env';

export interface StagedOnNode {
  nodeId: string;
  /** The node runs on this very kernel, as nodes of a kind cluster do: a loop device there is one here. */
  sameKernel: boolean;
  stage: StageRecord;
}

/** Nodes other than this process's own that have a volume staged, from the files they keep in the shared data folder. */
export function stagedElsewhere(env: Env, volumeId: string): StagedOnNode[] {
  const found: StagedOnNode[] = [];
  for (const node of env.nodes.others()) {
    const stage = stageOn(env, node, volumeId);
    // A record of an earlier boot of that node describes nothing any more.
    if (stage?.bootId !== node.bootId || stage.volumeId !== volumeId) continue;
    found.push({ nodeId: node.id, sameKernel: node.bootId === env.bootId, stage });
  }
  return found;
}

function stageOn(env: Env, node: NodeRecord, volumeId: string): StageRecord | undefined {
  const file = `${env.layout.node(node.id).stages}/${keyOf(volumeId)}.json`;
  try {
    return readRecord<StageRecord>(file, ['volumeId', 'stagingPath', 'capability']);
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}
