import type { ManifestProblems } from '../../../src/kubelet/manifests/problems';
import { readManifests } from '../../../src/kubelet/manifests/read';
import { CLAIM, play, pod, STORAGE_CLASS } from './harness';

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
