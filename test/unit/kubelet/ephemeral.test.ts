import { CLAIM, callsOf, eventsOf, play, STORAGE_CLASS } from './harness';

const pod = (name: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /s}]}]
  volumes:
    - name: scratch
      ephemeral:
        volumeClaimTemplate:
          metadata: {labels: {of: ${name}}}
          spec: {storageClassName: fake, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---`;

test('a generic ephemeral volume is a claim of its pod: made with it, staged like any other, deleted with it', async () => {
  const played = await play(
    STORAGE_CLASS + pod('web'),
    'create; wait running; assert state web-scratch staged; delete; wait state web-scratch deleted; wait clean',
  );
  expect(played.outcome).toMatchObject({ failure: undefined, standings: [] });
  expect(callsOf(played, 'CreateVolume')[0]?.request).toMatchObject({
    parameters: { 'csi.storage.k8s.io/pvc/name': 'web-scratch' },
  });
  expect(callsOf(played, 'DeleteVolume').map(({ code }) => code)).toEqual(['OK']);
  expect(played.rehearsal.cluster.api.claims.all()).toEqual([]);
});

test('two pods of one template have a volume each; a pod that comes again has another one', async () => {
  const played = await play(
    STORAGE_CLASS + pod('one') + pod('two'),
    'create; wait running; delete one; wait gone one; wait calls DeleteVolume OK; create one; wait running',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(
    new Set(callsOf(played, 'CreateVolume').map(({ request }) => (request as { name: string }).name)).size,
  ).toBe(3);
});

test('a claim of that name which is not the pod’s own is never used: FailedBinding, and the pod stays Pending', async () => {
  const taken = CLAIM.replace('{name: data}', '{name: web-scratch}');
  const played = await play(STORAGE_CLASS + taken + pod('web'), 'create; advance 2m; assert not running');
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedBinding')[0]).toMatchObject({
    object: 'Pod default/web',
    type: 'Warning',
    message:
      'ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner)',
  });
  expect(callsOf(played, 'NodePublishVolume')).toEqual([]);
  expect(played.rehearsal.cluster.api.claims.get('default/web-scratch')?.deletionTimestamp).toBeUndefined();
});

test('a kubelet that was given the pod says it, too', async () => {
  const taken = CLAIM.replace('{name: data}', '{name: web-scratch}');
  const assigned = pod('web').replace('spec:\n', 'spec:\n  nodeName: node-1\n');
  const storageClass = STORAGE_CLASS.replace('WaitForFirstConsumer', 'Immediate');
  const steps = 'create fake web-scratch; wait state web-scratch bound; create web; wait event FailedMount';
  const played = await play(storageClass + taken + assigned, steps);
  // It is looked at after the claim's phase, and without the words before it.
  expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
    /failed to process volumes=\[scratch\]: PVC default\/web-scratch was not created for pod default\/web \(pod is not owner\)$/,
  );
});
