import { mountDevice, unmountDevice } from '../csi/csi-attacher';
import { setUp, tearDown } from '../csi/csi-mounter';
import { isCorruptedMount } from '../csi/mount-view';
import { waitForAttach } from '../csi/node-environment';
import { expandDuringMount } from '../csi/node-expander';
import { stepErrorOf } from '../errors';
import { keyOfObject } from '../objects';
import { cleanSubPaths } from '../sub-paths';
import type { AttachedVolume, MountedPod } from './actual-state-of-world';
import type { PodToMount } from './desired-state-of-world';
import {
  checkNodeAffinity,
  checkReadWriteOncePod,
  failWith,
  markDeviceError,
  markPodError,
  type OperationEnvironment,
  prefixed,
  told,
} from './operation-errors';
import { isAttachable } from './spec';

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
    checkNodeAffinity(env, wanted, 'MountVolume.NodeAffinity check failed');
    checkReadWriteOncePod(env, volume, wanted, 'MountVolume.SetUp failed');
    failWith('MountVolume.WaitForAttach failed', spec.specName, () => waitForAttach(env, spec));
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

/** UnmountVolume. Nothing of it makes an event. `data`: of the pod's vol_data.json. @throws Error */
export async function unmountVolume(
  env: OperationEnvironment,
  volume: AttachedVolume,
  mounted: MountedPod,
  data: Record<string, string>,
): Promise<void> {
  const { asw, timeline, nodeName } = env;
  const { spec } = mounted;
  await cleanSubPaths(env, mounted.podUid, spec.specName).catch((error: Error) => {
    throw new Error(`error cleaning subPath mounts for volume "${spec.specName}" : ${error.message}`);
  });
  try {
    const left = await tearDown(env, spec, mounted.podUid, data);
    if (left !== undefined)
      timeline.add({ who: 'kubelet', node: nodeName, kind: 'note', about: spec.specName, text: left });
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    // Whatever it was: the teardown may have begun.
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
 * @throws Error when the API server, which is asked once more, does not answer
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
  const [namespace, name] = spec.claim?.split('/') ?? [];
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
  const failure = spec.claim === undefined ? undefined : api.failureOf('Get', path);
  if (failure !== undefined)
    throw new Error(
      `VerifyControllerAttachedVolume fetching pvc failed for volume "${spec.specName}" : ${failure}`,
    );
  asw.markAttached(spec, attachable, capacity);
  return undefined;
}
