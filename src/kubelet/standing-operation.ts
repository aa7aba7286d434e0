import { StepError } from './errors';
import type { Timeline } from './timeline/timeline';
import { goDuration, type OperationState } from './volumemanager/operation-executor';

/** Which call fails, what kind of failure it is, what follows from that, and when it is tried again. */
export function describe(operation: OperationState, timeline: Timeline, now: number): string {
  const { name, isPending, lastError, failures, startedAt, about, backoff } = operation;
  const volume = about.split(' ')[0];
  const calls = timeline.calls.filter((call) => call.who === 'kubelet' && call.about === volume);
  if (isPending) {
    const running = calls.findLast(({ code }) => code === undefined);
    const call = running
      ? `${running.method} has had no answer for ${rounded(timeline.elapsed - running.at)} (its step has 2m0s)`
      : 'no call runs';
    const before = lastError ? `; before, it failed (try ${failures}): ${lastError.message}` : '';
    return `${name} runs for ${rounded(now - startedAt)}: ${call}${before}`;
  }
  if (!lastError) return `${name} waits`;
  const isCall =
    !/GetDeviceMountRefs|still referenced from other Pods|not found in the list of registered/.test(
      lastError.message,
    );
  const failed = isCall ? calls.findLast(({ code }) => code !== undefined && code !== 'OK') : undefined;
  const head = failed ? `stuck: ${failed.method} fails with ${failed.code}` : `stuck: ${name} fails`;
  const left = Math.max(0, (backoff.retryAt ?? 0) - now);
  return `${head} (${failures} ${failures === 1 ? 'try' : 'tries'}), ${consequence(operation)}: ${lastError.message}; next try in ${rounded(left)} (backoff ${goDuration(backoff.beforeRetryMs)})`;
}

function consequence({ name, lastError }: OperationState): string {
  if (name === 'volume_unmount' || name === 'unmap_volume')
    return 'whatever the error, the mount is uncertain; no event tells of it';
  if (name === 'unmount_device' || name === 'unmap_device') return 'no event tells of it';
  if (!(lastError instanceof StepError)) return 'tried again for ever';
  const device = /^(MountVolume\.MountDevice|MapVolume\.SetUpDevice)/.test(lastError.message);
  const undo = device ? 'NodeUnstageVolume' : 'NodeUnpublishVolume';
  switch (lastError.errorClass) {
    case 'final':
      return `final: the kubelet forgets the ${device ? 'stage' : 'mount'}, no ${undo} will follow`;
    case 'uncertain':
      return `not final: it may have happened, ${undo} will follow when no pod wants it`;
    case 'transient':
      return 'transient: what was known before stays';
  }
}

/** `850ms`, `4.5s`, `1m12s` */
export function rounded(ms: number): string {
  return goDuration(ms < 1_000 ? Math.round(ms) : Math.round(ms / 100) * 100);
}
