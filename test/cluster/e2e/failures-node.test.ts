import { registrationOf, replaceNodePlugin } from './stage/driver-pods';
import { claim, pod, yaml } from './stage/manifests';
import { dataOf, deleteWithFiles, warns } from './stage/observe';
import { inScene } from './stage/scene';

/** What needs another driver on the node, and so cannot be met beside anything else. */

const ONE_VOLUME = `
apiVersion: fake-csi/v1
kind: Scenario
metadata: {name: e2e-one-volume}
spec:
  rules:
    - {name: one, match: {rpc: NodeGetInfo}, then: [{respond: {merge: {max_volumes_per_node: 1}}}]}
`;

it(
  'limit reached: the scheduler keeps the second pod until the first has gone',
  inScene('fails-limit', async (scene) => {
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
      await warns(scene, 'second', 'FailedScheduling', 'node(s) exceed max volume count');
      await scene.kubectl('delete', 'pod', 'first', '--wait=false');
      await scene.running('second');
    } finally {
      await scene.disarm();
      await replaceNodePlugin(scene);
    }
    await limited(before);
  }),
);

it(
  'without Bidirectional propagation: the driver says so and how to mend it, and the pod sees no volume',
  inScene('fails-propagation', async (scene) => {
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
      expect(await dataOf(scene, 'web')).toEqual({ ofDriver: false, log: 'lost\n' });
      await deleteWithFiles(scene, 'web');
    } finally {
      await propagate('Bidirectional');
    }
    await scene.apply(yaml(pod('web', { claim: 'data' })));
    await scene.running('web');
    await scene.exec('web', 'sh', '-c', 'echo kept >> /data/log');
    expect(await dataOf(scene, 'web')).toEqual({ ofDriver: true, log: 'kept\n' });
  }),
);
