import { Code } from '../csi/status';
import type { Clock } from '../util/clock';
import type { ApiServer } from './api-server';
import { CSI_TIMEOUT_MS } from './constants';
import type { CsiCalls } from './csi/calls';
import { rpcErrorText } from './errors';
import type { Events } from './events';
import { keyOfObject, type NodeObject, type Pod } from './objects';
import type { Timeline } from './timeline/timeline';

export interface AttachLimitSource {
  readonly nodeName: string;
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly calls: CsiCalls;
}

/** How often it is looked whether a CSIDriver asks for updates, where none does yet. */
const LOOK_MS = 10_000;

/** Writes what NodeGetInfo says of the node's limit into CSINode; its labels are left alone. @throws CsiError; Error */
async function update({ calls, api, nodeName, timeline }: AttachLimitSource, driver: string): Promise<void> {
  const context = calls.context(CSI_TIMEOUT_MS, undefined, driver);
  const { max_volumes_per_node: limit } = await calls.call('NodeGetInfo', {}, context);
  const failure = api.failureOf('Get', `/apis/storage.k8s.io/v1/csinodes/${nodeName}`);
  if (failure !== undefined)
    throw new Error(
      `failed to update driver "${driver}": error updating CSINode object with CSI driver node info: ${failure}`,
    );
  const node = api.nodes.get(nodeName);
  if (!node?.csiDrivers.has(driver) || !setLimit(node, driver, limit)) return;
  const text = `CSINode ${nodeName}: ${driver} allocatable.count ${node.allocatable.get(driver) ?? 'without limit'}`;
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', text });
  api.changed();
}

/** 0: no limit. Negative: a line in the log, and nothing else. @returns whether it is another one than before */
export function setLimit(node: NodeObject, driver: string, text: string): boolean {
  const before = node.allocatable.get(driver);
  const limit = Number(text);
  if (limit > 0) node.allocatable.set(driver, Math.min(limit, 2 ** 31 - 1));
  else node.allocatable.delete(driver);
  return node.allocatable.get(driver) !== before;
}

/** csi_node_updater.go: NodeGetInfo at the period that the CSIDriver asks for. */
export async function watchAttachLimit(
  source: AttachLimitSource,
  driver: string,
  signal: AbortSignal,
): Promise<void> {
  const { api, clock, timeline, nodeName } = source;
  for (;;) {
    const seconds = api.csiDrivers.get(driver)?.nodeAllocatableUpdatePeriodSeconds;
    await clock.sleep(seconds === undefined ? LOOK_MS : seconds * 1_000, signal);
    if (seconds === undefined) continue;
    await update(source, driver).catch((error: unknown) => {
      signal.throwIfAborted();
      timeline.log({
        who: 'kubelet',
        node: nodeName,
        text: `Failed to update CSINode: ${rpcErrorText(error)}`,
      });
    });
  }
}

/**
 * Rejects a pod whose volumes did not come because the node is full: attachError with RESOURCE_EXHAUSTED, of a driver that
 * asks for updates of its limit. NodeGetInfo is asked once more on this occasion.
 * `missing`: which of its volumes are not there, and why, in the kubelet's words.
 * @returns whether it was rejected
 */
export async function rejectOverLimit(
  source: AttachLimitSource & { readonly events: Events },
  pod: Pod,
  missing: string,
): Promise<boolean> {
  const { api, nodeName, timeline, events } = source;
  // What came of the attach is asked for, not remembered.
  if (api.isDown) return false;
  const full = pod.volumes.find(({ claim: reference }) => {
    const claim = reference && api.claimOf(pod, reference.claimName);
    const pv = claim && api.volumeOf(claim);
    if (!pv || api.csiDrivers.get(pv.driver)?.nodeAllocatableUpdatePeriodSeconds === undefined) return false;
    return api.attachments
      .all()
      .some(
        (attachment) =>
          attachment.persistentVolumeName === pv.meta.name &&
          attachment.nodeName === nodeName &&
          attachment.attachErrorCode === Code.RESOURCE_EXHAUSTED,
      );
  });
  if (!full?.claim) return false;
  const claim = api.claimOf(pod, full.claim.claimName);
  const driver = claim && api.volumeOf(claim)?.driver;
  if (driver !== undefined) await update(source, driver).catch(() => undefined);
  pod.phase = 'Failed';
  pod.reason = 'VolumeAttachmentLimitExceeded';
  events.emit(
    { who: 'kubelet', node: nodeName },
    pod,
    'Warning',
    pod.reason,
    `Node has reached its volume attachment limit, rejecting pod. ${missing}`,
  );
  const text =
    'pod Failed: VolumeAttachmentLimitExceeded (Node has reached its volume attachment limit, rejecting pod)';
  timeline.add({ who: 'kubelet', node: nodeName, kind: 'object', about: keyOfObject(pod.meta), text });
  api.changed();
  return true;
}
