import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { openInProcess } from '../../../src/embedded/in-process-rehearsal';
import { type Rehearsed, rehearse } from '../../../src/embedded/rehearse';
import type { MemoryControl } from '../../../src/host/memory';
import type { KubeletConfiguration } from '../../../src/kubelet/configuration';
import type { MountView } from '../../../src/kubelet/csi/mount-view';
import type { ClusterEvent } from '../../../src/kubelet/events';
import { readManifests } from '../../../src/kubelet/manifests/read';
import { KubeletPaths } from '../../../src/kubelet/names';
import { parseSteps } from '../../../src/kubelet/steps/grammar';
import type { CallEntry } from '../../../src/kubelet/timeline/timeline';
import type { KubeletVersion } from '../../../src/kubelet/versions';

export interface Played extends Rehearsed {
  readonly calls: readonly CallEntry[];
  readonly events: readonly ClusterEvent[];
  /** `Method CODE`, in order, the kubelet's alone; registration and statistics left out. */
  readonly kubeletCalls: readonly string[];
}

export interface PlayOptions {
  readonly scenario?: string;
  readonly version?: KubeletVersion;
  readonly seed?: number;
  readonly capabilities?: string;
  readonly rootDir?: string;
  readonly configuration?: Partial<KubeletConfiguration>;
}

/** Plays manifests given as text. */
export async function play(manifests: string, steps: string, options: PlayOptions = {}): Promise<Played> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'rehearsal-test-'));
  try {
    const file = path.join(folder, 'manifests.yaml');
    fs.writeFileSync(file, manifests);
    const scenarios: string[] = [];
    if (options.scenario !== undefined) {
      scenarios.push(path.join(folder, 'scenario.yaml'));
      fs.writeFileSync(path.join(folder, 'scenario.yaml'), options.scenario);
    }
    const rehearsed = await rehearse({
      manifests: [file],
      scenarios,
      steps: parseSteps(steps),
      version: options.version ?? '1.36',
      seed: options.seed ?? 1,
      ...(options.configuration && { configuration: options.configuration }),
      endpoint: undefined,
      rootDir: options.rootDir,
      driverName: undefined,
      capabilities: options.capabilities,
      print: undefined,
    });
    const { calls } = rehearsed.timeline;
    const quiet = new Set(['GetInfo', 'NotifyRegistrationStatus', 'NodeGetInfo', 'NodeGetVolumeStats']);
    return {
      ...rehearsed,
      calls,
      events: rehearsed.rehearsal.cluster.events.all(),
      kubeletCalls: calls
        .filter(({ who, method }) => who === 'kubelet' && !quiet.has(method))
        .map(({ method, code }) => `${method} ${code}`),
    };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Calls to the node plugin without the questions for capabilities. */
export function work({ kubeletCalls }: Played): string[] {
  return kubeletCalls.filter((call) => !call.startsWith('NodeGetCapabilities'));
}

export function eventsOf({ events }: Played, reason: string): ClusterEvent[] {
  return events.filter((event) => event.reason === reason);
}

export function callsOf({ calls }: Played, method: string): CallEntry[] {
  return calls.filter((call) => call.method === method);
}

/** A scenario of one rule: the calls of a method, one after another. The last answer is given for ever. */
export function answers(rpc: string, sequence: string): string {
  return rules(`{name: answers, match: {rpc: ${rpc}}, sequence: '${sequence}'}`);
}

/** A scenario of rules, a line each. */
export function rules(...lines: readonly string[]): string {
  return [
    'apiVersion: fake-csi/v1',
    'kind: Scenario',
    'metadata: {name: test}',
    'spec:',
    '  rules:',
    ...lines.map((line) => `    - ${line}`),
    '',
  ].join('\n');
}

export const STORAGE_CLASS = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fake}
provisioner: fake.csi.test
parameters: {csi.storage.k8s.io/fstype: ext4}
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
---`;

export const CLAIM = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fake, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---`;

/** A PersistentVolume that nobody provisioned, and a claim for it. `csi` begins with a comma, `spec` is a line of its own. */
export function staticVolume({ csi = '', spec = '', claim = CLAIM } = {}): string {
  return `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  ${spec}
  csi: {driver: fake.csi.test, volumeHandle: static-1, volumeAttributes: {size: 1Gi}${csi}}
---${claim.replace('storageClassName: fake', 'storageClassName: ""')}`;
}

export function pod(name: string, spec = ''): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  ${spec}
  containers: [{name: main, image: example.test/main, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---`;
}

export const ONE_POD = `${STORAGE_CLASS}${CLAIM}${pod('web')}`;

/** A rehearsal that a test goes on with step by step, and looks into between them. */
export interface Opened {
  /** @throws Error with the step that did not come true */
  run(steps: string): Promise<void>;
  readonly mounts: MountView;
  readonly control: () => MemoryControl;
  readonly calls: () => string[];
  /** Paths of the one pod's one volume. */
  readonly places: () => { target: string; staging: string; globalFolder: string };
  readonly logged: (text: RegExp) => boolean;
}

/** Opens a rehearsal, lets `work` use it, and closes it. */
export async function withRehearsal(
  manifests: string,
  { scenario }: Pick<PlayOptions, 'scenario'>,
  work: (opened: Opened) => Promise<void>,
): Promise<void> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'rehearsal-test-'));
  const file = path.join(folder, 'scenario.yaml');
  if (scenario !== undefined) fs.writeFileSync(file, scenario);
  const { rehearsal, timeline, rootDir, control, close } = await openInProcess({
    manifests: readManifests(manifests, 'manifests.yaml'),
    version: '1.36',
    seed: 1,
    rootDir: undefined,
    start: {},
    scenarios: scenario === undefined ? [] : [file],
  });
  try {
    await rehearsal.begin();
    const paths = new KubeletPaths(rootDir);
    const { machine } = rehearsal.cluster.node('node-1') ?? {};
    if (!machine) throw new Error('expected node-1, found none');
    await work({
      run: async (steps) => {
        for (const step of parseSteps(steps)) {
          const failure = await rehearsal.step(step);
          if (failure !== undefined) throw new Error(failure);
        }
      },
      mounts: machine.mounts,
      control,
      calls: () =>
        timeline.calls
          .filter(({ who, method }) => who === 'kubelet' && /^Node(Un)?(stage|publish)/i.test(method))
          .map(({ method, code }) => `${method} ${code}`),
      places: () => {
        const [pv] = rehearsal.cluster.api.volumes.all();
        const [pod] = rehearsal.cluster.api.pods.all();
        const { driver = '', volumeHandle = '', meta } = pv ?? {};
        return {
          target: paths.target(pod?.meta.uid ?? '', meta?.name ?? ''),
          staging: paths.staging(driver, volumeHandle),
          globalFolder: paths.globalVolume(driver, volumeHandle),
        };
      },
      logged: (text) => timeline.entries.some((entry) => text.test(entry.text)),
    });
  } finally {
    await close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
