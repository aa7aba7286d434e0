import type { ManifestProblems } from '../../../src/kubelet/manifests/problems';
import { readManifests } from '../../../src/kubelet/manifests/read';
import { volumeAttachmentName } from '../../../src/kubelet/names';
import { CLAIM, callsOf, play, pod, STORAGE_CLASS, staticVolume } from './harness';

function problemsOf(text: string): string[] {
  try {
    readManifests(text, 'm.yaml');
    return [];
  } catch (error) {
    return (error as ManifestProblems).message.split('\n');
  }
}

test('a field that is not simulated is named with its place, not ignored', () => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: main
      volumeMounts:
        - name: data
          mountPath: /data
          subPathExpr: $(POD_NAME)
`;
  expect(problemsOf(text)).toEqual([
    'm.yaml:10:11: spec.containers.0.volumeMounts.0.subPathExpr: not a field, or one that a rehearsal does not simulate; remove it (docs/rehearsal.md lists what is)',
  ]);
});

test('every mistake is told, each at its place', () => {
  const text = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteTwice]
  resources: {requests: {storage: [1Gi]}}
---
kind: Deployment
`;
  const problems = problemsOf(text);
  expect(problems).toHaveLength(3);
  expect(problems[0]).toMatch(/^m\.yaml:5:\d+: spec\.accessModes\.0: .*ReadWriteOnce/);
  expect(problems[1]).toMatch(/^m\.yaml:6:\d+: spec\.resources\.requests\.storage: /);
  expect(problems[2]).toMatch(
    /^m\.yaml:8:1: kind: a rehearsal knows Pod, PersistentVolumeClaim.*"Deployment"/,
  );
});

test('broken YAML is told with its place', () => {
  expect(problemsOf('kind: [Pod')[0]).toMatch(/^m\.yaml:1:\d+: YAML: /);
});

test.each([
  [
    'an unknown volume in a mount',
    pod('web').replace('name: data, mountPath', 'name: dat, mountPath'),
    /expected one of spec\.volumes \(data\), found "dat"/,
  ],
  ['a quantity that is none', CLAIM.replace('1Gi', 'much'), /expected a quantity such as 10Gi, found "much"/],
  ['the same object twice', CLAIM + CLAIM, /PersistentVolumeClaim default\/data is there twice/],
  [
    'a subPath that leaves the volume',
    CLAIM + pod('web').replace('mountPath: /data', 'mountPath: /data, subPath: a/../../b'),
    /subPath: expected a relative path without "\.\.", found "a\/\.\.\/\.\.\/b"/,
  ],
])('%s is refused', async (_, manifests, message) => {
  await expect(play(STORAGE_CLASS + manifests, 'create')).rejects.toThrow(message);
});

test('a StatefulSet is its pods and their claims', async () => {
  const set = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: postgres}
spec:
  replicas: 2
  template:
    spec: {containers: [{name: main, volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {storageClassName: fake, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`;
  const played = await play(STORAGE_CLASS + set, 'create; wait running');
  expect(played.outcome.passed).toBe(true);
  const { api } = played.rehearsal.cluster;
  expect(api.pods.all().map(({ meta }) => meta.name)).toEqual(['postgres-0', 'postgres-1']);
  expect(api.claims.all().map(({ meta, phase }) => `${meta.name} ${phase}`)).toEqual([
    'data-postgres-0 Bound',
    'data-postgres-1 Bound',
  ]);
});

test('a List is its items, each with its own place; so is a list of one kind', () => {
  const list = `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main}], volume: []}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
`;
  const problems = problemsOf(list);
  expect(problems[0]).toMatch(/^m\.yaml:7:40: spec\.volume: not a field/);
  expect(problems[1]).toMatch(/^m\.yaml:9:5: kind: a rehearsal knows .*; found "Deployment"$/);
  const pods = `apiVersion: v1
kind: PodList
items: [{metadata: {name: web}, spec: {containers: [{name: main}]}}]
`;
  expect(readManifests(pods, 'm.yaml').map(({ kind }) => kind)).toEqual(['Pod']);
});

test('what no volume depends on is left out, and a field without effect is read; both are said', async () => {
  const others = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: None}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {storageCapacity: true, seLinuxMount: true, preventPodSchedulingIfMissing: true}
---`;
  const played = await play(others + STORAGE_CLASS + CLAIM + pod('web'), 'create; wait running');
  expect(played.outcome.failure).toBeUndefined();
  const notes = played.timeline.entries.filter(({ kind }) => kind === 'note').map(({ text }) => text);
  expect(notes).toEqual([
    'Service web is left out: no volume depends on it',
    'CSIDriver fake.csi.test: spec.storageCapacity has no effect: the scheduler does not look at capacity',
    'CSIDriver fake.csi.test: spec.seLinuxMount has no effect: nodes are without SELinux',
    'CSIDriver fake.csi.test: spec.preventPodSchedulingIfMissing has no effect: its gate VolumeLimitScaling (alpha) is off',
  ]);
});

test('what `kubectl get -o yaml` adds is no mistake', () => {
  const exported = `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  resourceVersion: "7"
  managedFields: []
  finalizers: [kubernetes.io/pvc-protection]
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}
status: {phase: Bound}
`;
  expect(problemsOf(exported)).toEqual([]);
  expect(problemsOf(exported.replace('kubernetes.io/pvc-protection', 'example.test/mine'))[0]).toMatch(
    /^m\.yaml:7:\d+: metadata\.finalizers\.0: /,
  );
});

describe('a VolumeAttachment', () => {
  const volume = staticVolume() + pod('web');
  const attachment = (name: string, status = '') => `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: ${name}}
spec: {attacher: fake.csi.test, nodeName: node-1, source: {persistentVolumeName: pv-1}}
${status}
---`;
  const NAME = volumeAttachmentName('static-1', 'fake.csi.test', 'node-1');

  test('that is there and attached is used: nobody attaches, and its metadata is the publish context', async () => {
    const attached = 'status: {attached: true, attachmentMetadata: {device: /dev/x}}';
    const steps = 'create; wait calls NodeStageVolume; delete; wait clean';
    const played = await play(attachment(NAME, attached) + volume, steps);
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'ControllerPublishVolume')).toEqual([]);
    expect(callsOf(played, 'NodeStageVolume')[0]?.request).toMatchObject({
      publish_context: { device: '/dev/x' },
    });
    expect(callsOf(played, 'ControllerUnpublishVolume')).toHaveLength(1);
  });

  test('that is not attached is attached by the external-attacher, with no pod in sight, and stays', async () => {
    const played = await play(
      attachment('mine') + volume,
      'create pv-1 mine; wait state pv-1 attached; advance 1h',
    );
    expect(played.outcome.standings).toMatchObject([{ what: 'VolumeAttachment of pv-1' }]);
    expect(callsOf(played, 'ControllerPublishVolume')).toHaveLength(1);
    expect(callsOf(played, 'ControllerUnpublishVolume')).toEqual([]);
  });

  test('of an inline volume is named as not simulated', () => {
    expect(
      problemsOf(attachment('mine').replace('persistentVolumeName: pv-1', 'inlineVolumeSpec: {}'))[0],
    ).toMatch(/spec\.source\.(inlineVolumeSpec: not a field|persistentVolumeName)/);
  });
});
