import { NODE_MONITOR_GRACE_MS } from '../constants';
import type { NodeObject } from '../objects';

/** Whether the kubelet was heard of lately. */
export function isNodeReady({ lastHeartbeat, ready }: NodeObject, now: number): boolean {
  return ready && now - lastHeartbeat <= NODE_MONITOR_GRACE_MS;
}
