import * as fs from 'node:fs';
import * as path from 'node:path';
import { readSeen, type Seen, withoutNames, writeFailuresPage, writeSeen } from '../../support/golden/seen';
import { controlOf, kubernetesVersion, openCluster } from './stage/real-cluster';
import { isRunning, Scene } from './stage/scene';
import { SWEPT, type Swept } from './sweep-list';

const update = process.env.FAKE_CSI_GOLDEN === 'update';
const SCENARIOS = path.join(__dirname, '../../../scenarios');

/** Pods at a time: two cores run the whole cluster. */
const AT_A_TIME = 8;
const SECONDS = 40;
/** Longer than a teardown with nothing in its way. */
const TEARDOWN_MS = 30_000;

/** The gallery is loaded already, from its files: what a test may take away has a name of its own. */
const ownName = (scenario: string) => `sweep-${scenario}`;

const textOf = (scenario: string) => fs.readFileSync(path.join(SCENARIOS, `${scenario}.yaml`), 'utf8');

/** At rest it acts on the volumes that name it. */
const atRest = (scenario: string) =>
  textOf(scenario)
    .replace(`name: ${scenario}`, `name: ${ownName(scenario)}`)
    .replace(/^spec:$/m, 'spec:\n  enabled: false');

function manifests({ scenario, fsType, fsGroup, block }: Swept): string {
  const name = ownName(scenario);
  const use = block
    ? { volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }
    : { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
  return [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name },
      provisioner: 'fake.csi.test',
      parameters: { scenario: name, 'csi.storage.k8s.io/fstype': fsType ?? 'ext4' },
      allowVolumeExpansion: true,
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: {
        storageClassName: name,
        accessModes: ['ReadWriteOnce'],
        ...(block && { volumeMode: 'Block' }),
        resources: { requests: { storage: fsType === 'xfs' ? '320Mi' : '64Mi' } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        ...(fsGroup !== undefined && { securityContext: { fsGroup, runAsUser: 1000 } }),
        containers: [{ name: 'app', image: 'busybox:1.36', command: ['sleep', '100000'], ...use }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      },
    },
  ]
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
}

async function comes(
  scene: Scene,
  what: string,
  holds: () => Promise<boolean>,
  ms: number,
): Promise<boolean> {
  return scene.until(what, holds, ms).then(
    () => true,
    () => false,
  );
}

/** The attach/detach controller, which has heard of the pod and not yet of its new volume: on a busy machine, now and then. */
const CACHE_IS_LATE = /: persistentvolume "\S+" not found$/;

/** Each different event once, in alphabetical order. */
async function eventLines(scene: Scene): Promise<string[]> {
  const told = [
    'FailedMount',
    'FailedMapVolume',
    'FailedAttachVolume',
    'ProvisioningFailed',
    'VolumeFailedDelete',
  ];
  const events = (await scene.events()).filter(
    ({ reason }) => told.includes(reason) || /Fail|Multi/.test(reason),
  );
  const lines = events
    .filter(({ reason }) => reason !== 'FailedScheduling')
    .filter(({ message }) => !CACHE_IS_LATE.test(message))
    .map(
      ({ object, reason, message }) =>
        `${object} ${reason}: ${withoutNames(message, scene.namespace).replaceAll('sweep-', '')}`,
    );
  return [...new Set(lines)].sort();
}

/** A pod meets the scenario, is deleted in it, and the scenario is taken away. */
async function meet(swept: Swept): Promise<Seen> {
  const { scenario, knob, seconds = SECONDS, again } = swept;
  const scene = await Scene.open(scenario);
  const lines: string[] = [];
  try {
    await scene.apply(manifests(swept));
    const runs = async () => isRunning(await scene.find('pod', 'web'));
    if (again) {
      await scene.running('web');
      await scene.kubectl('delete', 'pod', 'web');
      await scene.apply(manifests(swept));
    }
    const ran = await comes(scene, 'running', runs, seconds * 1000);
    lines.push(ran ? 'the pod runs' : `the pod does not run in ${seconds} s`);
    lines.push(...(await eventLines(scene)));
    await scene.kubectl('delete', 'pod', 'web', '--wait=false');
    const isGone = async () => (await scene.find('pod', 'web')) === undefined;
    const gone = await comes(scene, 'gone', isGone, TEARDOWN_MS);
    lines.push(gone ? 'deleted: the pod is gone' : 'deleted: the pod is Terminating');
    const late = (await eventLines(scene)).filter((line) => !lines.includes(line));
    lines.push(...late);
    const [volume] = await scene.volumes();
    const attachments = (await scene.cluster.json(['get', 'volumeattachments'])).items ?? [];
    const attached = attachments.some(
      ({ spec }) => spec.source.persistentVolumeName === volume?.metadata.name,
    );
    lines.push(attached ? 'its volume is still attached' : 'its volume is detached');
  } finally {
    const control = await controlOf(scene.cluster);
    // Of this one alone: others have calls that hang, too.
    await control.release(ownName(scenario));
    await control.removeScenario(ownName(scenario));
    const all = await scene.close().then(
      () => 'all',
      () => 'not all',
    );
    lines.push(`without the scenario: ${all} of it goes`);
    if (all !== 'all') stuck.push({ scene, lines });
  }
  return { scenario, knob, lines };
}

const seen = new Map<string, Seen | Error>();
/** What did not go, and where that is told. */
const stuck: { readonly scene: Scene; readonly lines: string[] }[] = [];

/** What a kubelet does not let go of it may let go of after a restart. */
async function healByRestart(): Promise<void> {
  const [first] = stuck;
  if (!first) return;
  await first.scene.cluster.restart('kubelet', 'SIGKILL');
  for (const { scene, lines } of stuck) {
    await scene.close();
    lines.push('after a restart of the kubelet: all of it goes');
  }
}

beforeAll(async () => {
  const waiting = [...SWEPT];
  const control = await controlOf(openCluster());
  for (const { scenario } of waiting) await control.putScenario(atRest(scenario), `${scenario}.yaml`);
  const work = async () => {
    for (let swept = waiting.shift(); swept; swept = waiting.shift())
      seen.set(swept.scenario, await meet(swept).catch((error: Error) => error));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  await healByRestart();
}, 1_800_000);

afterAll(() => {
  if (update) writeFailuresPage();
});

describe.each(SWEPT)('$scenario ($knob)', ({ scenario }) => {
  it('is seen as it was before', async () => {
    const found = seen.get(scenario);
    if (!found || found instanceof Error) throw found ?? new Error('it was not met');
    const version = await kubernetesVersion(openCluster());
    if (update) writeSeen(found, version);
    expect(found.lines).toEqual(readSeen(scenario, version));
  });

  /** The first lines of its file say what a person sees. */
  it('makes the event that its file begins with', () => {
    const said = /^# SEEN\s+(Failed\w+|ProvisioningFailed)/m.exec(textOf(scenario))?.[1];
    const found = seen.get(scenario);
    if (said === undefined || !found || found instanceof Error) return;
    expect(found.lines.join('\n')).toContain(said);
  });
});
