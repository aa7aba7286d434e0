import type { RealCluster } from './real-cluster';
import type { Scene } from './scene';

const DRIVER = 'fake.csi.test';
const NODE_PLUGIN = 'app=fake-csi,role=node';

/** What the kubelet wrote of the driver in CSINode; undefined where it is not registered. */
export async function registrationOf(
  cluster: RealCluster,
): Promise<{ allocatable?: { count?: number } } | undefined> {
  const { spec } = await cluster.json(['get', 'csinode', cluster.node]);
  return (spec.drivers ?? []).find(({ name }: { name: string }) => name === DRIVER);
}

export const isRegistered = async (cluster: RealCluster): Promise<boolean> =>
  (await registrationOf(cluster)) !== undefined;

/** A new pod for the node plugin: unlike a container that ends again and again it is not held back. */
export async function replaceNodePlugin(scene: Scene): Promise<void> {
  const { cluster } = scene;
  await cluster.mustKubectl(['-n', 'kube-system', 'delete', 'pod', '-l', NODE_PLUGIN, '--wait=true']);
  await scene.until('a new node plugin', async () => {
    const { items = [] } = await cluster.json(['-n', 'kube-system', 'get', 'pods', '-l', NODE_PLUGIN]);
    return items.length > 0 && items.every(({ status }) => status.phase === 'Running');
  });
}
