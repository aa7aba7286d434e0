import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import type { KubeletConfiguration } from './configuration';
import { NODE_STATUS_JITTER } from './constants';
import type { Seeded } from './seeded';
import type { Timeline } from './timeline/timeline';
import type { ActualStateOfWorld } from './volumemanager/actual-state-of-world';
import type { DesiredStateOfWorld } from './volumemanager/desired-state-of-world';

export interface StatusSource {
  readonly nodeName: string;
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly seeded: Seeded;
  readonly timeline: Timeline;
  readonly dsw: DesiredStateOfWorld;
  readonly asw: ActualStateOfWorld;
  readonly configuration: KubeletConfiguration;
}

/**
 * Every 10 s: that the node lives, and which volumes are in use here, wanted or known. The kubelet takes none for attached
 * that it has not reported, and the controller detaches none that is reported.
 */
export async function postNodeStatus(source: StatusSource, signal: AbortSignal): Promise<void> {
  const { clock, seeded, nodeName, configuration } = source;
  for (let count = 0; ; count++) {
    post(source);
    const what = `status ${nodeName} ${count}`;
    await clock.sleep(seeded.jittered(configuration.nodeStatusUpdateMs, NODE_STATUS_JITTER, what), signal);
  }
}

function post(source: StatusSource): void {
  const { api, nodeName, dsw, asw, clock, timeline } = source;
  const node = api.nodes.get(nodeName);
  if (!node) return;
  const wanted = dsw.all().filter(({ isAttachable }) => isAttachable);
  const known = asw.all().filter(({ isAttachable }) => isAttachable);
  const inUse = [...new Set([...wanted, ...known].map(({ uniqueName }) => uniqueName))].sort();
  const before = node.volumesInUse.join(', ');
  if (api.isDown) {
    sayUnreachable(source, inUse.join(', ') !== before);
    return;
  }
  node.lastHeartbeat = clock.now();
  node.volumesInUse = inUse;
  for (const volume of wanted) volume.reportedInUse = true;
  if (inUse.join(', ') === before) return;
  const text = `node.status.volumesInUse: [${inUse.join(', ')}]`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', text });
  api.changed();
}

/** The lease is renewed each time; a status is sent only when there is something new in it. */
function sayUnreachable({ api, nodeName, timeline }: StatusSource, isNew: boolean): void {
  const say = (text: string) => timeline.log({ who: 'kubelet', node: nodeName, text });
  const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}?timeout=10s`;
  say(`Failed to ensure lease exists, will retry: ${api.failureOf('Get', lease)}`);
  if (!isNew) return;
  const failure = api.failureOf('Patch', `/api/v1/nodes/${nodeName}/status?timeout=10s`);
  say(`Unable to update node status: update node status exceeds retry count: ${failure}`);
}
