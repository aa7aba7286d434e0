import * as fs from 'node:fs';
import * as path from 'node:path';
import type { KubeObject } from './real-cluster';
import type { Scene } from './scene';

/** A warning of the pod, which `kubectl describe` shows as well. @returns its message */
export async function warns(
  scene: Scene,
  name: string,
  reason: string,
  text: string | RegExp,
  ms?: number,
): Promise<string> {
  const { message } = await scene.event(`Pod/${name}`, reason, text, ms);
  const described = await scene.kubectl('describe', 'pod', name);
  expect(described).toMatch(new RegExp(`Warning\\s+${reason}\\b`));
  expect(described).toContain(message.trim());
  return message;
}

/** Where the volume's data lie in a pod: the device behind /data, and whether it is one of the driver's. */
export async function dataOf(scene: Scene, name: string): Promise<{ ofDriver: boolean; log: string }> {
  const mounts = await scene.mountsIn(name, '/data');
  return {
    ofDriver: mounts.some((line) => / - ext4 \/dev\/loop\d+ /.test(line)),
    log: await scene.exec(name, 'cat', '/data/log'),
  };
}

/** Of the one volume of a scene. */
export async function attachment(scene: Scene): Promise<KubeObject | undefined> {
  const [volume] = await scene.volumes();
  const { items = [] } = await scene.cluster.json(['get', 'volumeattachments']);
  return items.find(({ spec }) => spec.source.persistentVolumeName === volume?.metadata.name);
}

export const detached = (scene: Scene): Promise<void> =>
  scene.until('the volume detached', async () => (await attachment(scene)) === undefined);

/** Whether the kubelet says of the one volume of a scene that it may still be mounted. */
export async function inUse(scene: Scene): Promise<boolean> {
  const [volume] = await scene.volumes();
  const { status } = await scene.cluster.json(['get', 'node', scene.cluster.node]);
  const handle: string = volume?.spec.csi.volumeHandle;
  return (status.volumesInUse ?? []).some((name: string) => name.endsWith(`^${handle}`));
}

/**
 * Deletes a pod that wrote to the folder which the container runtime made where no volume was mounted: the kubelet does not
 * remove what is not empty, and the pod is Terminating until somebody else does.
 */
export async function deleteWithFiles(scene: Scene, name: string): Promise<void> {
  const log = await kubeletLog(scene);
  const uid = (await scene.find('pod', name))?.metadata.uid ?? '';
  await scene.kubectl('delete', 'pod', name, '--wait=false');
  await scene.until('the kubelet to refuse', async () =>
    log().some((line) => line.includes('directory not empty')),
  );
  expect(await scene.find('pod', name)).toBeDefined();
  const volumes = path.join(scene.cluster.layout.kubelet, 'pods', uid, 'volumes/kubernetes.io~csi');
  for (const volume of fs.readdirSync(volumes)) fs.rmSync(path.join(volumes, volume, 'mount/log'));
  await scene.gone('pod', name);
}

/** What the kubelet logs from now on of the volumes that a scene has now. */
export async function kubeletLog(scene: Scene): Promise<() => string[]> {
  const handles = (await scene.volumes()).map(({ spec }): string => spec.csi.volumeHandle);
  const file = scene.cluster.layout.log('kubelet');
  const { size } = fs.statSync(file);
  return () => {
    const lines = fs.readFileSync(file).subarray(size).toString('utf8').split('\n');
    return lines.filter((line) => handles.some((handle) => line.includes(handle)));
  };
}

/** Waits for it in the status of the VolumeAttachment: detaching makes no events. */
export async function detachError(scene: Scene, text: string | RegExp): Promise<void> {
  await scene.until(`a detach error with ${text}`, async () => {
    const message: string = (await attachment(scene))?.status?.detachError?.message ?? '';
    return typeof text === 'string' ? message.includes(text) : text.test(message);
  });
}
