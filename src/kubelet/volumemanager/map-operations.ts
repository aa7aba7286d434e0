import { namesIn } from '../../util/files';
import { mapPodDevice, newMapper, setUpDevice, tearDownDevice, unmapPodDevice } from '../csi/csi-block';
import { waitForAttach } from '../csi/node-environment';
import { expandDuringMount } from '../csi/node-expander';
import { stepErrorOf } from '../errors';
import { keyOfObject } from '../objects';
import type { AttachedVolume, MountedPod } from './actual-state-of-world';
import { evalHostSymlinks, mapDevice, unmapDevice } from './block-map';
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

/** MapVolume (operation_generator.go, GenerateMapVolumeFunc): a raw block volume, the device once, then the pod. @throws Error */
export async function mapVolume(
  env: OperationEnvironment,
  volume: AttachedVolume,
  wanted: PodToMount,
): Promise<void> {
  const { asw, events, nodeName } = env;
  const { pod, spec } = wanted;
  const { uid } = pod.meta;
  const failed = (doing: string, error: unknown, when = '') =>
    told(
      env,
      pod,
      prefixed(`MapVolume.${doing} failed${when}`, spec.specName, stepErrorOf(error)),
      'FailedMapVolume',
    );
  try {
    checkNodeAffinity(env, wanted, 'MapVolume.NodeAffinity check failed');
  } catch (error) {
    throw told(env, pod, error);
  }
  try {
    checkReadWriteOncePod(env, volume, wanted, 'MapVolume.SetUpDevice failed');
    failWith('MapVolume.WaitForAttach failed', spec.specName, () => waitForAttach(env, spec));
    newMapper(env, spec);
  } catch (error) {
    throw told(env, pod, error, 'FailedMapVolume');
  }
  if (volume.device !== 'GloballyMounted') {
    try {
      await setUpDevice(env, spec);
    } catch (error) {
      markDeviceError(env, volume, stepErrorOf(error).errorClass);
      throw failed('SetUpDevice', error);
    }
    asw.markDevice(volume, 'GloballyMounted');
  }
  const known = volume.pods.get(uid);
  const mapped = { podUid: uid, podName: keyOfObject(pod.meta), spec };
  let published: string;
  try {
    published = await mapPodDevice(env, spec, pod);
  } catch (error) {
    markPodError(env, volume, mapped, known, stepErrorOf(error).errorClass);
    throw failed('MapPodDevice', error);
  }
  // From here on there is something to undo, whatever happens.
  asw.markPod(volume, mapped, 'Uncertain');
  let device: string;
  try {
    device = evalHostSymlinks(published);
  } catch (error) {
    throw failed('EvalHostSymlinks', error);
  }
  try {
    const { globalMapPath, volumeMapPath } = await mapDevice(env, spec, uid, device);
    for (const text of [
      `globalMapPath ${JSON.stringify(globalMapPath)}`,
      `volumeMapPath ${JSON.stringify(volumeMapPath)}`,
    ])
      events.emit(
        { who: 'kubelet', node: nodeName },
        pod,
        'Normal',
        'SuccessfulMountVolume',
        `MapVolume.MapPodDevice succeeded for volume "${spec.specName}" ${text}`,
      );
  } catch (error) {
    throw failed('MapBlockVolume', error);
  }
  try {
    await expandDuringMount(env, volume, spec, pod);
  } catch (error) {
    throw failed('MarkVolumeAsMounted', error, ' while expanding volume');
  }
  asw.markPod(volume, mapped, 'Mounted');
}

/** UnmapVolume: first what the kubelet made, then the driver. Nothing of it makes an event. @throws Error */
export async function unmapVolume(
  env: OperationEnvironment,
  volume: AttachedVolume,
  mapped: MountedPod,
  data: Record<string, string>,
): Promise<void> {
  const { asw } = env;
  const { spec, podUid } = mapped;
  const failed = (doing: string, error: unknown) =>
    new Error(`UnmapVolume.${doing} failed for volume "${spec.specName}" : ${(error as Error).message}`);
  // From here on it has to be done to its end, whatever fails.
  asw.markPod(volume, mapped, 'Uncertain');
  await unmapDevice(env, spec, podUid).catch((error) => {
    throw failed('UnmapBlockVolume', error);
  });
  await unmapPodDevice(env, spec, podUid, data).catch((error) => {
    throw failed('UnmapPodDevice', error);
  });
  asw.forgetPod(volume, podUid);
}

/** UnmapDevice: not while a pod's map is there. @throws Error */
export async function unmapVolumeDevice(env: OperationEnvironment, volume: AttachedVolume): Promise<void> {
  const { asw, paths } = env;
  const { spec } = volume;
  const map = paths.blockMap(spec.specName);
  const references = namesIn(map);
  if (references.length > 0)
    throw new Error(
      `UnmapDevice failed for volume "${spec.specName}" : the device "${map}" is still referenced from other Pods [${references.join(' ')}]`,
    );
  asw.markDevice(volume, 'Uncertain');
  try {
    await tearDownDevice(env, spec);
  } catch (error) {
    throw new Error(
      `UnmapDevice.TearDownDevice failed for volume "${spec.specName}" : ${(error as Error).message}`,
    );
  }
  asw.markDevice(volume, 'NotMounted');
}
