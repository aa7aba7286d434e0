import { NODE_STATUS_UPDATE_MS, POD_SYNC_MS, VOLUME_STATS_MS } from './constants';

/** What of KubeletConfiguration decides how soon things happen, in milliseconds. */
export interface KubeletConfiguration {
  /** nodeStatusUpdateFrequency: volumesInUse is posted with it, never sooner. */
  readonly nodeStatusUpdateMs: number;
  /** syncFrequency: up to one and a half times of it pass between two looks at a pod that runs. */
  readonly syncMs: number;
  /** volumeStatsAggPeriod: once to twice of it pass between two questions for statistics. */
  readonly volumeStatsMs: number;
}

/** What a kubelet has without a configuration. */
export const DEFAULT_CONFIGURATION: KubeletConfiguration = {
  nodeStatusUpdateMs: NODE_STATUS_UPDATE_MS,
  syncMs: POD_SYNC_MS,
  volumeStatsMs: VOLUME_STATS_MS,
};
