import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { inspectFolder } from '../../../src/kubelet/inspect/inspect';
import { type MountLine, MountTable } from '../../../src/kubelet/inspect/mount-table';
import type { Inspection } from '../../../src/kubelet/inspect/report';
import type { KubeletVersion } from '../../../src/kubelet/versions';
import { ONE_POD, play } from './harness';

/** The folder of a node with a running pod, as a rehearsal leaves it, and the mounts that a real one would have. */
export interface Node {
  readonly root: string;
  readonly pods: string[];
  readonly volume: string;
  readonly stage: string;
  target(at?: number): string;
  readonly mounts: MountLine[];
}

const folders: string[] = [];
const servers: net.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

export const bind = (mountPoint: string, more: Partial<MountLine> = {}): MountLine => ({
  mountPoint,
  root: '/',
  device: { major: 7, minor: 3 },
  fsType: 'ext4',
  source: '/dev/loop3',
  options: ['rw', 'relatime'],
  ...more,
});

/** Removed after all tests of the file. */
export function emptyFolder(): string {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'inspect-'));
  folders.push(folder);
  return folder;
}

export async function node(
  manifests = ONE_POD,
  version: KubeletVersion = '1.36',
  capabilities?: string,
): Promise<Node> {
  const root = emptyFolder();
  const { outcome } = await play(manifests, 'create; wait running', {
    rootDir: root,
    version,
    ...(capabilities !== undefined && { capabilities }),
  });
  expect(outcome.failure).toBeUndefined();
  const pods = fs.readdirSync(path.join(root, 'pods')).sort();
  const csi = (uid = '') => path.join(root, 'pods', uid, 'volumes/kubernetes.io~csi');
  const [volume = ''] = fs.readdirSync(csi(pods[0]));
  const drivers = path.join(root, 'plugins/kubernetes.io/csi/fake.csi.test');
  const [key = ''] = fs.readdirSync(drivers);
  const stage = path.join(drivers, key, 'globalmount');
  const target = (at = 0) => path.join(csi(pods[at]), volume, 'mount');
  fs.mkdirSync(path.join(root, 'plugins_registry'));
  const server = net.createServer().listen(path.join(root, 'plugins_registry/fake.csi.test-reg.sock'));
  await once(server, 'listening');
  servers.push(server);
  return {
    root,
    pods,
    volume,
    stage,
    target,
    mounts: [bind(stage), ...pods.map((_, at) => bind(target(at)))],
  };
}

export function look(
  { root, mounts }: Pick<Node, 'root' | 'mounts'>,
  { version = '1.36', problem }: { version?: KubeletVersion; problem?: string } = {},
): Inspection {
  return inspectFolder({ root, version, mounts: new MountTable(mounts, () => problem), mountsOf: 'a test' });
}

export const found = ({ findings }: Inspection, code: string) =>
  findings.find((finding) => finding.code === code);
export const wrong = ({ findings }: Inspection) =>
  findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code);
