import { mountDevice, unmountDevice } from '../csi/csi-attacher';
import { setUp, tearDown } from '../csi/csi-mounter';
import { isCorruptedMount } from '../csi/mount-view';
import { type NodeEnvironment, waitForAttach } from '../csi/node-environment';
import { expandDuringMount } from '../csi/node-expander';
import { type ErrorClass, StepError, stepErrorOf } from '../errors';
import type { Events } from '../events';
import { keyOfObject, type Pod } from '../objects';
import type { ActualStateOfWorld, AttachedVolume, MountedPod } from './actual-state-of-world';
import type { PodToMount } from './desired-state-of-world';
import { isAttachable } from './spec';

/** What operations work with: the driver, what is believed, and who is told. */
export interface OperationEnvironment extends NodeEnvironment {
  readonly asw: ActualStateOfWorld;
  readonly events: Events;
}

/** MountVolume (operation_generator.go, GenerateMountVolumeFunc): the device once, then the pod. @throws Error */
export async function mountVolume(
  env: OperationEnvironment,
  volume: AttachedVolume,
  wanted: PodToMount,
): Promise<void> {
  const { asw } = env;
  const { pod, spec } = wanted;
  const { uid } = pod.meta;
  try {
    checkReadWriteOncePod(env, volume, wanted);
    failWith('MountVolume.WaitForAttach failed', () => waitForAttach(env, spec));
  } catch (error) {
    throw told(env, pod, error);
  }
  if (spec.lifecycleMode === 'Persistent' && volume.device !== 'GloballyMounted') {
    try {
      await mountDevice(env, spec, pod.fsGroup);
    } catch (error) {
      const failure = stepErrorOf(error);
      markDeviceError(env, volume, failure.errorClass);
      throw told(env, pod, prefixed('MountVolume.MountDevice failed', spec.specName, failure));
    }
    asw.markDevice(volume, 'GloballyMounted');
  }
  const known = volume.pods.get(uid);
  const mounted = { podUid: uid, podName: keyOfObject(pod.meta), spec };
  const isRemount = known?.state === 'Mounted' && known.remountRequired;
  try {
    await setUp(env, spec, pod, { isRemount, reconstructed: known?.reconstructed === true });
  } catch (error) {
    const failure = stepErrorOf(error);
    markPodError(env, volume, mounted, known, failure.errorClass);
    throw told(env, pod, prefixed('MountVolume.SetUp failed', spec.specName, failure));
  }
  try {
    await expandDuringMount(env, volume, spec, pod);
  } catch (error) {
    asw.markPod(volume, mounted, 'Uncertain');
    throw told(
      env,
      pod,
      prefixed('MountVolume.Setup failed while expanding volume', spec.specName, stepErrorOf(error)),
    );
  }
  asw.markPod(volume, mounted, 'Mounted');
}

function markDeviceError(
  { asw }: OperationEnvironment,
  volume: AttachedVolume,
  errorClass: ErrorClass,
): void {
  if (errorClass === 'transient' || volume.device === 'GloballyMounted') return;
  if (errorClass === 'uncertain') asw.markDevice(volume, 'Uncertain');
  // What was only found on the disk is not forgotten for an error: somebody has to unstage it.
  else if (!volume.deviceReconstructed) asw.markDevice(volume, 'NotMounted');
}

function markPodError(
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

function checkReadWriteOncePod(
  { asw }: OperationEnvironment,
  volume: AttachedVolume,
  { spec, pod }: PodToMount,
): void {
  if (!spec.accessModes.includes('ReadWriteOncePod')) return;
  const others = [...(asw.get(volume.uniqueName)?.pods.keys() ?? [])].some((uid) => uid !== pod.meta.uid);
  if (others)
    throw prefixed(
      'MountVolume.SetUp failed',
      spec.specName,
      new StepError(
        'transient',
        'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
      ),
    );
}

function failWith(prefix: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const failure = stepErrorOf(error);
    throw new StepError(failure.errorClass, `${prefix} : ${failure.message}`);
  }
}

/** As events and the log have it: a space stands before the colon. */
function prefixed(prefix: string, volume: string, failure: StepError): StepError {
  return new StepError(
    failure.errorClass,
    `${prefix} for volume "${volume}" : ${failure.message}`,
    failure.code,
  );
}

function told({ events, nodeName }: OperationEnvironment, pod: Pod, error: unknown): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  events.emit({ who: 'kubelet', node: nodeName }, pod, 'Warning', 'FailedMount', failure.message);
  return failure;
}

/** UnmountVolume. Nothing of it makes an event. `data`: of the pod's vol_data.json. @throws Error */
export async function unmountVolume(
  env: OperationEnvironment,
  volume: AttachedVolume,
  mounted: MountedPod,
  data: Record<string, string>,
): Promise<void> {
  const { asw, timeline, nodeName } = env;
  const { spec } = mounted;
  try {
    const left = await tearDown(env, spec, mounted.podUid, data);
    if (left !== undefined)
      timeline.add({ who: 'kubelet', node: nodeName, kind: 'note', about: spec.specName, text: left });
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (!(error instanceof StepError && error.errorClass === 'transient'))
      asw.markPod(volume, mounted, 'Uncertain');
    throw new Error(`UnmountVolume.TearDown failed for volume "${spec.specName}" : ${failure.message}`);
  }
  asw.forgetPod(volume, mounted.podUid);
}

/** UnmountDevice: not while the filesystem is mounted elsewhere, too. @throws Error */
export async function unmountVolumeDevice(env: OperationEnvironment, volume: AttachedVolume): Promise<void> {
  const { asw, timeline, nodeName, paths } = env;
  const { spec } = volume;
  const staging = paths.staging(spec.driver, spec.volumeHandle);
  const references = await otherMounts(env, staging);
  if (references.length > 0)
    throw new Error(
      `GetDeviceMountRefs check failed for volume "${spec.specName}" : the device mount path "${staging}" is still mounted by other references [${references.join(' ')}]`,
    );
  try {
    const left = await unmountDevice(env, spec);
    if (left !== undefined)
      timeline.add({ who: 'kubelet', node: nodeName, kind: 'note', about: spec.specName, text: left });
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (!(error instanceof StepError && error.errorClass === 'transient'))
      asw.markDevice(volume, 'Uncertain');
    throw new Error(`UnmountDevice failed for volume "${spec.specName}" : ${failure.message}`);
  }
  asw.markDevice(volume, 'NotMounted');
}

async function otherMounts({ mounts }: OperationEnvironment, staging: string): Promise<string[]> {
  try {
    const suffix = staging.slice(staging.indexOf('/plugins/kubernetes.io/'));
    return (await mounts.references(staging)).filter((place) => !place.endsWith(suffix));
  } catch (error) {
    if (isCorruptedMount(error)) return [];
    throw error;
  }
}

/**
 * VerifyControllerAttachedVolume: whether the attach/detach controller says that the volume is attached here.
 * @returns why not; nothing of it is an error that would be waited for
 */
export function verifyControllerAttached(
  env: OperationEnvironment,
  wanted: PodToMount,
  reportedInUse: boolean,
): string | undefined {
  const { api, nodeName, asw } = env;
  const { spec } = wanted;
  const attachable = isAttachable(api, spec);
  const capacity = spec.claim === undefined ? undefined : api.claims.get(spec.claim)?.capacityBytes;
  if (attachable) {
    if (!reportedInUse)
      return `volume has not been added to the list of VolumesInUse in the node's volume status`;
    if (!api.nodes.get(nodeName)?.volumesAttached.includes(spec.uniqueName))
      return 'volume is not in the list of VolumesAttached in the status of the node';
  }
  asw.markAttached(spec, attachable, capacity);
  return undefined;
}
