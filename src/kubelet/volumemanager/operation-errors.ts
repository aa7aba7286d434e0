import { fitsNode } from '../controllers/topology';
import type { NodeEnvironment } from '../csi/node-environment';
import { type ErrorClass, StepError, stepErrorOf } from '../errors';
import type { Events } from '../events';
import type { Pod } from '../objects';
import type { ActualStateOfWorld, AttachedVolume, MountedPod } from './actual-state-of-world';
import type { PodToMount } from './desired-state-of-world';

/** What operations work with: the driver, what is believed, and who is told. */
export interface OperationEnvironment extends NodeEnvironment {
  readonly asw: ActualStateOfWorld;
  readonly events: Events;
}

/** What a failed MountDevice or SetUpDevice leaves to be believed of the device. */
export function markDeviceError(
  { asw }: OperationEnvironment,
  volume: AttachedVolume,
  errorClass: ErrorClass,
): void {
  if (errorClass === 'transient' || volume.device === 'GloballyMounted') return;
  if (errorClass === 'uncertain') asw.markDevice(volume, 'Uncertain');
  // What was only found on the disk is not forgotten for an error: somebody has to unstage it.
  else if (!volume.deviceReconstructed) asw.markDevice(volume, 'NotMounted');
}

/** The same of one pod's mount or map. */
export function markPodError(
  { asw }: OperationEnvironment,
  volume: AttachedVolume,
  mounted: Pick<MountedPod, 'podUid' | 'podName' | 'spec'>,
  known: MountedPod | undefined,
  errorClass: ErrorClass,
): void {
  // A pod that uses the volume keeps it, whatever becomes of a repeated publish.
  if (errorClass === 'transient' || known?.state === 'Mounted') return;
  if (errorClass === 'uncertain') asw.markPod(volume, mounted, 'Uncertain');
  else if (known?.reconstructed !== true) asw.forgetPod(volume, mounted.podUid);
}

/** @throws StepError */
export function checkReadWriteOncePod(
  { asw }: OperationEnvironment,
  volume: AttachedVolume,
  { spec, pod }: PodToMount,
  doing: string,
): void {
  if (!spec.accessModes.includes('ReadWriteOncePod')) return;
  const others = [...(asw.get(volume.uniqueName)?.pods.keys() ?? [])].some((uid) => uid !== pod.meta.uid);
  if (others)
    throw prefixed(
      doing,
      spec.specName,
      new StepError(
        'transient',
        'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
      ),
    );
}

/** PV.spec.nodeAffinity against the node's labels (CheckNodeAffinity). @throws StepError */
export function checkNodeAffinity(
  { api, nodeName }: OperationEnvironment,
  { spec }: PodToMount,
  doing: string,
): void {
  const claim = spec.claim === undefined ? undefined : api.claims.get(spec.claim);
  const pv = claim && api.volumeOf(claim);
  const node = api.nodes.get(nodeName);
  if (!pv || !node || fitsNode(pv, node)) return;
  throw prefixed(doing, spec.specName, new StepError('transient', 'no matching NodeSelectorTerms'));
}

/** @throws StepError with the prefix before its text */
export function failWith(prefix: string, volume: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw prefixed(prefix, volume, stepErrorOf(error));
  }
}

/** As events and the log have it: a space stands before the colon. */
export function prefixed(prefix: string, volume: string, failure: StepError): StepError {
  return new StepError(
    failure.errorClass,
    `${prefix} for volume "${volume}" : ${failure.message}`,
    failure.code,
  );
}

/** Says it in an event of the pod. @returns it */
export function told(
  { events, nodeName }: OperationEnvironment,
  pod: Pod,
  error: unknown,
  reason: 'FailedMount' | 'FailedMapVolume' | 'VolumeResizeFailed' = 'FailedMount',
): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  events.emit({ who: 'kubelet', node: nodeName }, pod, 'Warning', reason, failure.message);
  return failure;
}
