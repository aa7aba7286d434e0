import type { Handler } from '../env';
import { ownNode } from './own-node';

export const nodeGetInfo: Handler<'NodeGetInfo'> = async (env) => {
  const { record } = ownNode(env);
  const topology = env.settings.capabilities.plugin.has('VOLUME_ACCESSIBILITY_CONSTRAINTS');
  return {
    node_id: record.id,
    max_volumes_per_node: `${record.maxVolumes}`,
    ...(topology ? { accessible_topology: { segments: record.topology } } : {}),
  };
};
