import type { ClientResponseOf } from '../../csi/rpcs';
import type { ApiServer } from '../api-server';
import { setLimit } from '../attach-limit';
import type { NodeObject } from '../objects';
import type { Timeline } from '../timeline/timeline';

export interface NodeInfoOptions {
  readonly api: ApiServer;
  readonly timeline: Timeline;
  readonly nodeName: string;
}

/** What the cluster knows of the drivers on a node (pkg/volume/csi/nodeinfomanager): CSINode, and the labels of the Node. */
export class NodeInfoManager {
  constructor(private readonly options: NodeInfoOptions) {}

  /** @throws Error in the kubelet's words */
  install(driver: string, info: ClientResponseOf<'NodeGetInfo'>): void {
    const { api, nodeName } = this.options;
    const { node_id: nodeId, accessible_topology: topology } = info;
    const failed = (why: string) => new Error(`error adding CSI driver node info: ${why}`);
    const node = api.nodes.get(nodeName);
    if (!node) throw failed(`nodes "${nodeName}" not found`);
    if (nodeId === '') throw failed('driverNodeID must not be empty');
    const segments = topology?.segments ?? {};
    const collision = collisionOf(node, segments);
    if (collision !== undefined) throw failed(collision);
    for (const [key, value] of Object.entries(segments)) node.labels.set(key, value);
    node.csiDrivers.set(driver, nodeId);
    node.topologyKeys.set(driver, Object.keys(segments).sort());
    setLimit(node, driver, info.max_volumes_per_node);
    this.said(`driver ${driver} registered as node ${nodeId}`);
  }

  /** Out of CSINode. Labels stay on the Node. */
  uninstall(driver: string): void {
    const node = this.options.api.nodes.get(this.options.nodeName);
    if (!node?.csiDrivers.delete(driver)) return;
    node.topologyKeys.delete(driver);
    node.allocatable.delete(driver);
    this.said(`driver ${driver} removed`);
  }

  private said(what: string): void {
    const { api, timeline, nodeName } = this.options;
    timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', text: `CSINode ${nodeName}: ${what}` });
    api.changed();
  }
}

/** A label that is there with another value is never overwritten. */
function collisionOf({ labels }: NodeObject, segments: Readonly<Record<string, string>>): string | undefined {
  for (const [key, value] of Object.entries(segments)) {
    const existing = labels.get(key);
    if (existing !== undefined && existing !== value)
      return `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${existing}"`;
  }
  return undefined;
}
