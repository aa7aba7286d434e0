import * as fs from 'node:fs';
import * as path from 'node:path';
import { registrationOf, replaceNodePlugin } from './stage/driver-pods';
import { claim, pod, yaml } from './stage/manifests';
import { Scene } from './stage/scene';

const EXAMPLES = path.join(__dirname, '../../../deploy/examples');
const example = (name: string) => fs.readFileSync(path.join(EXAMPLES, `${name}.yaml`), 'utf8');

const ONE_VOLUME = `
apiVersion: fake-csi/v1
kind: Scenario
metadata: {name: e2e-one-volume}
spec:
  rules:
    - {name: one, match: {rpc: NodeGetInfo}, then: [{respond: {merge: {max_volumes_per_node: 1}}}]}
`;

let scene: Scene;
async function opened(name: string): Promise<void> {
  scene = await Scene.open(`fails-${name}`);
}
afterEach(() => scene?.close());

/** A warning of the pod, which `kubectl describe` shows as well. @returns its message */
async function warns(name: string, reason: string, text: string | RegExp, ms?: number): Promise<string> {
  const { message } = await scene.event(`Pod/${name}`, reason, text, ms);
  const described = await scene.kubectl('describe', 'pod', name);
  expect(described).toMatch(new RegExp(`Warning\\s+${reason}\\b`));
  expect(described).toContain(message.trim());
  return message;
}

/** Where the volume's data lie in a pod: the device behind /data, and whether it is one of the driver's. */
async function dataOf(name: string): Promise<{ ofDriver: boolean; log: string }> {
  const mounts = await scene.mountsIn(name, '/data');
  return {
    ofDriver: mounts.some((line) => / - ext4 \/dev\/loop\d+ /.test(line)),
    log: await scene.exec(name, 'cat', '/data/log'),
  };
}

async function attachment() {
  const [volume] = await scene.volumes();
  const { items = [] } = await scene.cluster.json(['get', 'volumeattachments']);
  return items.find(({ spec }) => spec.source.persistentVolumeName === volume?.metadata.name);
}

const detached = () => scene.until('the volume detached', async () => (await attachment()) === undefined);

async function inUse(): Promise<boolean> {
  const [volume] = await scene.volumes();
  const { status } = await scene.cluster.json(['get', 'node', scene.cluster.node]);
  const handle: string = volume?.spec.csi.volumeHandle;
  return (status.volumesInUse ?? []).some((name: string) => name.endsWith(`^${handle}`));
}

/**
 * Deletes a pod that wrote to the folder which the container runtime made where no volume was mounted: the kubelet does not
 * remove what is not empty, and the pod is Terminating until somebody else does.
 */
async function deleteWithFiles(name: string): Promise<void> {
  const log = kubeletLog();
  const uid = (await scene.find('pod', name))?.metadata.uid ?? '';
  await scene.kubectl('delete', 'pod', name, '--wait=false');
  await scene.until('the kubelet to refuse', async () => log().includes('directory not empty'));
  expect(await scene.find('pod', name)).toBeDefined();
  const volumes = path.join(scene.cluster.layout.kubelet, 'pods', uid, 'volumes/kubernetes.io~csi');
  for (const volume of fs.readdirSync(volumes)) fs.rmSync(path.join(volumes, volume, 'mount/log'));
  await scene.gone('pod', name);
}

/** What the kubelet logs from now on. */
function kubeletLog(): () => string {
  const file = scene.cluster.layout.log('kubelet');
  const { size } = fs.statSync(file);
  return () => fs.readFileSync(file).subarray(size).toString('utf8');
}

async function detachError(text: string | RegExp): Promise<void> {
  await scene.until(`a detach error with ${text}`, async () => {
    const message: string = (await attachment())?.status?.detachError?.message ?? '';
    return typeof text === 'string' ? message.includes(text) : text.test(message);
  });
}

/** A pod that runs, and is told to go. */
async function deleteRunning(name: string): Promise<void> {
  await scene.apply(example(name));
  await scene.running(name);
  expect((await dataOf(name)).ofDriver).toBe(true);
  await scene.kubectl('delete', 'pod', name, '--wait=false');
}

describe('stuck attaching', () => {
  it('slow: the attacher gives up before the volume is attached, and finds it later', async () => {
    await opened('slow-attach');
    await scene.apply(example('fail-slow-attach'));
    await warns(
      'fail-slow-attach',
      'FailedAttachVolume',
      /^AttachVolume\.Attach failed for volume "pvc-\S+" : rpc error: code = (DeadlineExceeded|Aborted) /,
    );
    expect((await scene.calls()).some(({ method }) => method === 'NodeStageVolume')).toBe(false);
    await scene.running('fail-slow-attach');
    expect((await dataOf('fail-slow-attach')).ofDriver).toBe(true);
  });

  it('refused: the reason is in the event and in the VolumeAttachment', async () => {
    await opened('attach-fails');
    await scene.apply(example('fail-attach-fails'));
    const message = await warns('fail-attach-fails', 'FailedAttachVolume', 'may not attach');
    expect(message).toMatch(
      /^AttachVolume\.Attach failed for volume "pvc-\S+" : rpc error: code = PermissionDenied desc = \[scenario attach-fails: rule refused, \d of 4\] /,
    );
    await scene.running('fail-attach-fails');
    expect((await attachment())?.status.attachError).toBeUndefined();
  });

  it('limit reached: the scheduler keeps the second pod until the first has gone', async () => {
    await opened('limit');
    const limited = async (count: number | undefined) =>
      scene.until(
        `a limit of ${count} in CSINode`,
        async () => (await registrationOf(scene.cluster))?.allocatable?.count === count,
      );
    const before = (await registrationOf(scene.cluster))?.allocatable?.count;
    await scene.arm(ONE_VOLUME);
    try {
      await replaceNodePlugin(scene);
      await limited(1);
      await scene.apply(
        yaml(claim('one', 'fake-csi'), claim('two', 'fake-csi'), pod('first', { claim: 'one' })),
      );
      await scene.running('first');
      await scene.apply(yaml(pod('second', { claim: 'two' })));
      await warns('second', 'FailedScheduling', 'node(s) exceed max volume count');
      await scene.kubectl('delete', 'pod', 'first', '--wait=false');
      await scene.running('second');
    } finally {
      await scene.disarm();
      await replaceNodePlugin(scene);
    }
    await limited(before);
  });
});

describe('stuck mounting', () => {
  it('wrong fsType: with the words of mount(8) and the kernel', async () => {
    await opened('wrong-fstype');
    await scene.apply(example('fail-wrong-fstype'));
    const message = await warns('fail-wrong-fstype', 'FailedMount', 'MountVolume.MountDevice failed');
    expect(message).toMatch(
      /: wrong fs type, bad option, bad superblock on \/dev\/loop\d+, missing codepage or helper program, or other error\./,
    );
    expect(message).toContain("VFS: Can't find ext4 filesystem");
    await scene.running('fail-wrong-fstype');
    expect((await dataOf('fail-wrong-fstype')).ofDriver).toBe(true);
  });

  it('missing device: then it is there', async () => {
    await opened('missing-device');
    await scene.apply(example('fail-missing-device'));
    const message = await warns('fail-missing-device', 'FailedMount', 'MountVolume.MountDevice failed');
    expect(message).toMatch(/special device \/dev\/disk\/by-id\/\S+ does not exist/);
    await scene.running('fail-missing-device');
    expect((await dataOf('fail-missing-device')).ofDriver).toBe(true);
  });
});

describe('mounted but not visible', () => {
  it('OK without a mount: the pod writes to the disk of the node, and nothing tells', async () => {
    await opened('not-visible');
    await scene.apply(example('fail-not-visible'));
    await scene.running('fail-not-visible');
    const { ofDriver, log } = await dataOf('fail-not-visible');
    expect(ofDriver).toBe(false);
    expect(log).not.toBe('');
    const warnings = (await scene.events('Pod/fail-not-visible')).filter(({ reason }) => /Fail/.test(reason));
    expect(warnings.filter(({ reason }) => reason !== 'FailedScheduling')).toEqual([]);
    await deleteWithFiles('fail-not-visible');
    await scene.apply(example('fail-not-visible'));
    await scene.running('fail-not-visible');
    const next = await dataOf('fail-not-visible');
    expect(next.ofDriver).toBe(true);
    expect(next.log).not.toContain(log.trim());
  });

  it('without Bidirectional propagation: the driver says so and how to mend it, and the pod sees no volume', async () => {
    await opened('propagation');
    const { cluster } = scene;
    const propagate = async (how: 'None' | 'Bidirectional') => {
      const daemonSet = ['-n', 'kube-system', 'daemonset', 'fake-csi-node'];
      const { spec } = await cluster.json(['get', ...daemonSet]);
      const mounts: { name: string }[] = spec.template.spec.containers[0].volumeMounts;
      const at = mounts.findIndex(({ name }) => name === 'kubelet');
      const place = `/spec/template/spec/containers/0/volumeMounts/${at}/mountPropagation`;
      const change = JSON.stringify([{ op: 'replace', path: place, value: how }]);
      await cluster.mustKubectl(['patch', ...daemonSet, '--type=json', '-p', change]);
      await replaceNodePlugin(scene);
      await scene.until('the driver registered', async () => (await registrationOf(cluster)) !== undefined);
    };
    try {
      await propagate('None');
      const log = await cluster.mustKubectl(['-n', 'kube-system', 'logs', '-l', 'app=fake-csi,role=node']);
      expect(log).toMatch(
        /mounts made in \/var\/lib\/kubelet\/\S+ are not seen by the kubelet: .*mountPropagation: Bidirectional/,
      );
      await scene.apply(yaml(claim('data', 'fake-csi'), pod('web', { claim: 'data' })));
      await scene.running('web');
      await scene.exec('web', 'sh', '-c', 'echo lost > /data/log');
      expect(await dataOf('web')).toEqual({ ofDriver: false, log: 'lost\n' });
      await deleteWithFiles('web');
    } finally {
      await propagate('Bidirectional');
    }
    await scene.apply(yaml(pod('web', { claim: 'data' })));
    await scene.running('web');
    await scene.exec('web', 'sh', '-c', 'echo kept >> /data/log');
    expect(await dataOf('web')).toEqual({ ofDriver: true, log: 'kept\n' });
  });
});

describe('fails to detach', () => {
  it('busy: the volume stays in use, which only the log of the kubelet tells', async () => {
    await opened('unstage-fails');
    await deleteRunning('fail-unstage-fails');
    const log = kubeletLog();
    await scene.gone('pod', 'fail-unstage-fails');
    await scene.until('it in the log', async () => /UnmountDevice failed .*target is busy/.test(log()));
    expect(await inUse()).toBe(true);
    expect((await attachment())?.metadata.deletionTimestamp).toBeUndefined();
    await detached();
    expect(await inUse()).toBe(false);
    const told = (await scene.events()).filter(({ message }) => message.includes('target is busy'));
    expect(told).toEqual([]);
  });

  it('refused: the VolumeAttachment has the reason', async () => {
    await opened('detach-fails');
    await deleteRunning('fail-detach-fails');
    await scene.gone('pod', 'fail-detach-fails');
    await detachError(/code = Internal desc = \[scenario detach-fails: rule held, \d of 5\] /);
    expect((await attachment())?.metadata.deletionTimestamp).toBeDefined();
    await detached();
  });

  it('hangs: the attacher gives up, and its next try detaches', async () => {
    await opened('stuck-detaching');
    await deleteRunning('fail-stuck-detaching');
    await scene.gone('pod', 'fail-stuck-detaching');
    await detachError('context deadline exceeded');
    await detached();
  });
});
