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

function post({ api, nodeName, dsw, asw, clock, timeline }: StatusSource): void {
  const node = api.nodes.get(nodeName);
  if (!node) return;
  const wanted = dsw.all().filter(({ isAttachable }) => isAttachable);
  const known = asw.all().filter(({ isAttachable }) => isAttachable);
  const inUse = [...new Set([...wanted, ...known].map(({ uniqueName }) => uniqueName))].sort();
  const before = node.volumesInUse.join(', ');
  node.lastHeartbeat = clock.now();
  node.volumesInUse = inUse;
  for (const volume of wanted) volume.reportedInUse = true;
  if (inUse.join(', ') === before) return;
  const text = `node.status.volumesInUse: [${inUse.join(', ')}]`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', text });
  api.changed();
}
