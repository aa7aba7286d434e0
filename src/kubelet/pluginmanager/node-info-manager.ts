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

/** After four tries within half a second. */
const GAVE_UP = 'timed out waiting for the condition; caused by: ';

/** What the cluster knows of the drivers on a node (pkg/volume/csi/nodeinfomanager): CSINode, and the labels of the Node. */
export class NodeInfoManager {
  constructor(private readonly options: NodeInfoOptions) {}

  /** @throws Error in the kubelet's words */
  install(driver: string, info: ClientResponseOf<'NodeGetInfo'>): void {
    const { api, nodeName } = this.options;
    const { node_id: nodeId, accessible_topology: topology } = info;
    const failed = (why: string) => new Error(`error adding CSI driver node info: ${why}`);
    if (nodeId === '') throw failed('driverNodeID must not be empty');
    const failure = api.failureOf('Get', `/api/v1/nodes/${nodeName}`);
    if (failure !== undefined)
      throw new Error(
        `error updating Node object with CSI driver node info: error updating node: ${GAVE_UP}${failure}`,
      );
    const node = api.nodes.get(nodeName);
    if (!node) throw failed(`nodes "${nodeName}" not found`);
    const segments = topology?.segments ?? {};
    const collision = collisionOf(node, segments);
    if (collision !== undefined) throw failed(collision);
    for (const [key, value] of Object.entries(segments)) node.labels.set(key, value);
    node.csiDrivers.set(driver, nodeId);
    node.topologyKeys.set(driver, Object.keys(segments).sort());
    setLimit(node, driver, info.max_volumes_per_node);
    this.said(`driver ${driver} registered as node ${nodeId}`);
  }

  /** Out of CSINode, unless it cannot be written: then it stays there. Labels stay on the Node. */
  uninstall(driver: string): void {
    const { api, nodeName, timeline } = this.options;
    const failure = api.failureOf('Get', `/apis/storage.k8s.io/v1/csinodes/${nodeName}`);
    if (failure !== undefined) {
      const text = `kubernetes.io/csi: Error uninstalling CSI driver: error uninstalling CSI driver from CSINode object error updating CSINode: ${GAVE_UP}${failure}`;
      timeline.log({ who: 'kubelet', node: nodeName, text });
      return;
    }
    const node = api.nodes.get(nodeName);
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
