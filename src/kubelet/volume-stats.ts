import * as path from 'node:path';
import type { Clock } from '../util/clock';
import type { KubeletConfiguration } from './configuration';
import { CSI_TIMEOUT_MS } from './constants';
import type { CsiCalls } from './csi/calls';
import { nodeHas } from './csi/capabilities';
import { rpcErrorText } from './errors';
import type { KubeletPaths } from './names';
import type { Pod } from './objects';
import type { Seeded } from './seeded';
import type { Timeline } from './timeline/timeline';
import type { DesiredStateOfWorld } from './volumemanager/desired-state-of-world';
import type { VolumeSpec } from './volumemanager/spec';

export interface StatsSource {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly seeded: Seeded;
  readonly timeline: Timeline;
  readonly paths: KubeletPaths;
  readonly calls: CsiCalls;
  readonly dsw: DesiredStateOfWorld;
  readonly configuration: KubeletConfiguration;
}

/** NodeGetVolumeStats each one to two minutes, as long as the pod runs; errors go to a log that nobody reads (V(4)). */
export async function watchVolumeStats(source: StatsSource, pod: Pod, signal: AbortSignal): Promise<void> {
  const { clock, seeded, dsw, timeline, nodeName, configuration } = source;
  const { uid } = pod.meta;
  for (let count = 0; ; count++) {
    await clock.sleep(seeded.jittered(configuration.volumeStatsMs, 1, `stats ${uid} ${count}`), signal);
    if (!pod.containersRunning) return;
    for (const { pods } of dsw.all()) {
      const spec = pods.get(uid)?.spec;
      if (!spec) continue;
      await ask(source, spec, uid).catch((error: unknown) => {
        signal.throwIfAborted();
        const text = `Failed to get volume metrics: ${rpcErrorText(error)}`;
        timeline.log({ who: 'kubelet', node: nodeName, about: spec.specName, text });
      });
    }
  }
}

/** @throws CsiError; Error when the answer holds no usage */
async function ask({ calls, paths }: StatsSource, spec: VolumeSpec, podUid: string): Promise<void> {
  const context = calls.context(CSI_TIMEOUT_MS, spec.specName, spec.driver);
  if (!(await nodeHas(calls, context, 'GET_VOLUME_STATS'))) return;
  const volume_path =
    spec.volumeMode === 'Block'
      ? path.join(paths.blockMap(spec.specName), podUid)
      : paths.target(podUid, spec.specName);
  const request = { volume_id: spec.volumeHandle, volume_path };
  const { usage } = await calls.call('NodeGetVolumeStats', request, context);
  if (usage.length === 0) throw new Error('failed to get usage from response. usage is nil');
}
