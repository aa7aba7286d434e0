import * as fs from 'node:fs';
import * as path from 'node:path';
import { claim, pod, yaml } from './stage/manifests';
import { openCluster } from './stage/real-cluster';
import { inScene, isRunning, type Scene } from './stage/scene';

/** Where kubelets differ (docs/rehearsal.md, "Which kubelet") and no call to the driver shows it. */

const { kubernetes } = openCluster();
const isOld = kubernetes === '1.32';

const NEVER_PUBLISHED = `
apiVersion: fake-csi/v1
kind: Scenario
metadata: {name: e2e-never-published}
spec:
  rules:
    - {name: refused, match: {rpc: NodePublishVolume}, then: [{error: {code: INTERNAL, message: no more}}]}
`;

/** Long enough for a mount, its retries and the kubelet's next look at the pod. */
const WATCH_MS = 25_000;

/** Where the one volume of a pod is mounted, as the kubelet sees it. */
function targetIn({ cluster }: Scene, uid: string): string {
  const targets = cluster.mountinfo().map((line) => line.split(' ')[4] ?? '');
  const found = targets.find((at) => at.includes(`/pods/${uid}/volumes/kubernetes.io~csi/`));
  if (found === undefined) throw new Error(`pod ${uid} has no volume mounted`);
  return found;
}

const published = async (scene: Scene, code: string) =>
  (await scene.calls()).filter((call) => call.method === 'NodePublishVolume' && call.code === code).length;

it(
  `one claim under two names: the pod ${isOld ? 'never runs, and no event says why' : 'runs'}`,
  inScene('two-names', async (scene) => {
    const volumes = ['a', 'b'].map((name) => ({ name, persistentVolumeClaim: { claimName: 'data' } }));
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const container = { name: 'app', image: 'busybox:1.36', command: ['sleep', '100000'], volumeMounts };
    await scene.apply(
      yaml(
        claim('data', 'fake-csi'),
        pod('web', { claim: 'data', spec: { volumes, containers: [container] } }),
      ),
    );
    await scene.until('the volume published', async () => (await published(scene, 'OK')) > 0);
    if (isOld) {
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
      expect(isRunning(await scene.find('pod', 'web'))).toBe(false);
      const told = (await scene.events('Pod/web')).filter(({ reason }) =>
        /Failed(Mount|Attach)/.test(reason),
      );
      expect(told).toEqual([]);
    } else {
      await scene.running('web');
      await scene.exec('web', 'sh', '-c', 'echo one > /a/file');
      expect(await scene.exec('web', 'cat', '/b/file')).toBe('one\n');
    }
  }),
);

it(
  `a final NodePublishVolume error for a volume that the kubelet found at its start: vol_data.json is ${isOld ? 'removed' : 'kept'}, and the pod heals`,
  inScene('final-after-restart', async (scene) => {
    await scene.apply(yaml(claim('data', 'fake-csi'), pod('web', { claim: 'data' })));
    await scene.running('web');
    const uid = (await scene.find('pod', 'web'))?.metadata.uid ?? '';
    const volumes = path.join(scene.cluster.layout.kubelet, 'pods', uid, 'volumes/kubernetes.io~csi');
    const [volume = ''] = fs.readdirSync(volumes);
    const isKept = () => fs.existsSync(path.join(volumes, volume, 'vol_data.json'));
    expect(isKept()).toBe(true);
    await scene.arm(NEVER_PUBLISHED);
    await scene.cluster.stop('kubelet', 'SIGKILL');
    // As after a reboot: a target that is still mounted is left alone by both.
    const { status, stderr } = await scene.cluster.inside(['umount', targetIn(scene, uid)]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    scene.cluster.start('kubelet');
    await scene.cluster.ready('kubelet');
    await scene.until('three refusals', async () => (await published(scene, 'INTERNAL')) >= 3);
    // Each try writes it before it asks the driver.
    if (isOld) await scene.until('vol_data.json removed', async () => !isKept());
    else expect(isKept()).toBe(true);
    await scene.disarm();
    await scene.until('the volume published again', async () => (await published(scene, 'OK')) >= 2);
    expect(isKept()).toBe(true);
    await scene.kubectl('delete', 'pod', 'web', '--wait=false');
    await scene.gone('pod', 'web');
  }),
);
