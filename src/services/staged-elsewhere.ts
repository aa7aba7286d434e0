import { keyOf } from '../util/keys';
import { readRecord } from '../volumes/record-file';
import type { NodeRecord, StageRecord } from '../volumes/records';
import type { Env } from './env';

export interface StagedOnNode {
  nodeId: string;
  /** The node runs on this very kernel, as nodes of a kind cluster do: a loop device there is one here. */
  sameKernel: boolean;
  stage: StageRecord;
}

/** Nodes other than this process's own that have a volume staged, from the files they keep in the shared data folder. */
export async function stagedElsewhere(env: Env, volumeId: string): Promise<StagedOnNode[]> {
  const others = (await env.nodes.all()).filter((node) => node.id !== env.node?.record.id);
  const found: StagedOnNode[] = [];
  for (const node of others) {
    const stage = await stageOn(env, node, volumeId);
    // A record of an earlier boot of that node describes nothing any more.
    if (stage?.bootId !== node.bootId || stage.volumeId !== volumeId) continue;
    found.push({ nodeId: node.id, sameKernel: node.bootId === env.node?.record.bootId, stage });
  }
  return found;
}

async function stageOn(env: Env, node: NodeRecord, volumeId: string): Promise<StageRecord | undefined> {
  const file = `${env.layout.node(node.id).stages}/${keyOf(volumeId)}.json`;
  return readRecord<StageRecord>(file, ['volumeId', 'stagingPath', 'capability']).catch(() => undefined);
}
