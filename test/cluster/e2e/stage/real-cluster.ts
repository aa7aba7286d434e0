import * as path from 'node:path';
import { type ControlClient, connectControl, findControlSocket } from '../../../../src/control/client';

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the tests use of scripts/lib/cluster/cluster.cjs. */
export interface RealCluster {
  readonly node: string;
  /** The line that it is made of, such as 1.36. */
  readonly kubernetes: string;
  readonly layout: {
    /** The kubelet's /var/lib/kubelet on the host, without its mounts. */
    readonly kubelet: string;
    readonly varLib: string;
    log(component: string): string;
  };
  kubectl(args: readonly string[], options?: { input?: string }): Promise<Ran>;
  mustKubectl(args: readonly string[], options?: { input?: string }): Promise<string>;
  json(args: readonly string[]): Promise<KubeObject>;
  apply(manifests: string | object | readonly object[]): Promise<string>;
  /** On the host; null: it does not run. */
  pidOf(component: string): number | null;
  start(component: string): void;
  stop(component: string, signal?: NodeJS.Signals): Promise<void>;
  restart(component: string, signal?: NodeJS.Signals): Promise<void>;
  ready(component: string): Promise<void>;
  /** Lines of the kubelet's mount table. */
  mountinfo(): string[];
  inside(words: readonly string[]): Promise<Ran>;
  /** Host pids of those whose command line matches. */
  processes(pattern: RegExp): number[];
}

/** Any object of the API, as far as the tests look into it. */
export interface KubeObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: as kubectl gives it; typing the whole API would prove nothing here.
  readonly spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  readonly status?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  readonly items?: any[];
}

interface ClusterTools {
  Cluster: new (folder: string) => RealCluster;
  reboot(cluster: RealCluster): Promise<void>;
}

const tools = require('../../../../scripts/lib/cluster/index.cjs') as ClusterTools;

/** The cluster that `npm run e2e` started, with the driver in it. */
export function openCluster(): RealCluster {
  const folder = process.env.FAKE_CSI_CLUSTER;
  if (folder === undefined)
    throw new Error(
      'FAKE_CSI_CLUSTER is not set: these tests are run by npm run e2e, on a cluster of its own',
    );
  return new tools.Cluster(folder);
}

export const reboot = (cluster: RealCluster): Promise<void> => tools.reboot(cluster);

/** That of its API server, such as v1.36.2. */
export async function kubernetesVersion(cluster: RealCluster): Promise<string> {
  const { serverVersion } = (await cluster.json(['version'])) as unknown as {
    serverVersion: { gitVersion: string };
  };
  return serverVersion.gitVersion;
}

/** The driver's data folder, shared by its pods. */
export const dataFolder = (cluster: RealCluster): string => path.join(cluster.layout.varLib, 'fake-csi');

/** The node plugin's, as the kubelet has it. */
export const nodeSocket = (cluster: RealCluster): string =>
  path.join(cluster.layout.kubelet, 'plugins/fake.csi.test/csi.sock');

/** Through whichever process of the driver serves control at the time. */
export const controlOf = async (cluster: RealCluster): Promise<ControlClient> =>
  connectControl({ socket: await findControlSocket(dataFolder(cluster)) });
