import { CLAIM, callsOf, eventsOf, ONE_POD, play, pod, STORAGE_CLASS, work } from './harness';

const IMMEDIATE = STORAGE_CLASS.replace('WaitForFirstConsumer', 'Immediate');
const SCHEDULER = ' preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';

describe('a volume that no container uses', () => {
  const unused = ONE_POD.replace('volumeMounts: [{name: data, mountPath: /data}]', 'volumeMounts: []');

  test('is attached and never mounted; the pod runs without it', async () => {
    const played = await play(
      unused,
      'create; wait running; assert state data attached; advance 5m; delete; wait clean',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(work(played)).toEqual([]);
    expect(callsOf(played, 'ControllerPublishVolume')).toHaveLength(1);
    expect(
      played.timeline.entries.some(({ text }) =>
        text.includes('Skipping unused volume data: no container has it in volumeMounts or volumeDevices'),
      ),
    ).toBe(true);
  });

  test('is told at the end', async () => {
    const played = await play(unused, 'create; wait running');
    expect(played.outcome.standings[0]?.why).toEqual([
      'volume data: no container has it in volumeMounts or volumeDevices: it is never mounted',
    ]);
  });

  test('is used when only an init container has it', async () => {
    const init = unused.replace(
      'containers: [',
      'initContainers: [{name: first, volumeMounts: [{name: data, mountPath: /data}]}]\n  containers: [',
    );
    expect(work(await play(init, 'create; wait running'))).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
    ]);
  });
});

test('what could not be looked at is neither attached nor expected to be; several reasons are told together', async () => {
  const manifests = `${IMMEDIATE}
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeName: node-1
  containers: [{name: main, volumeMounts: [{name: b, mountPath: /b}, {name: a, mountPath: /a}]}]
  volumes: [{name: b, persistentVolumeClaim: {claimName: two}}, {name: a, persistentVolumeClaim: {claimName: one}}]
---`;
  const played = await play(manifests, 'create; wait event FailedMount');
  expect(eventsOf(played, 'FailedMount')[0]?.message).toBe(
    'Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[], failed to process volumes=[a b]: error processing PVC default/two: failed to fetch PVC from API server: persistentvolumeclaims "two" not found; error processing PVC default/one: failed to fetch PVC from API server: persistentvolumeclaims "one" not found',
  );
});

describe('what the scheduler says of claims', () => {
  const refusals = async (manifests: string, steps: string) =>
    eventsOf(await play(manifests, steps), 'FailedScheduling').map(({ message }) => message);

  test('one that is not bound yet, of a class that binds at once', async () => {
    expect(await refusals(IMMEDIATE + CLAIM + pod('web'), 'create; wait running')).toEqual([
      `0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.${SCHEDULER}`,
    ]);
    expect(await refusals(ONE_POD, 'create; wait running')).toEqual([]);
  });

  test('one that is not there', async () => {
    const steps = 'create fake web; advance 1m; create data; wait running';
    expect(await refusals(ONE_POD, steps)).toEqual([
      `0/1 nodes are available: persistentvolumeclaim "data" not found.${SCHEDULER}`,
    ]);
  });

  test('one that is being deleted: kept for the pod that has it, and given to no other', async () => {
    const steps = 'create fake data web; wait running; delete pvc/data; create other; advance 1m';
    expect(await refusals(ONE_POD + pod('other'), steps)).toEqual([
      `0/1 nodes are available: persistentvolumeclaim "data" is being deleted.${SCHEDULER}`,
    ]);
  });

  test('a kubelet does not mind that a claim is being deleted: pvc-protection keeps it', async () => {
    const steps =
      'create fake data web; wait running; delete pvc/data; create other; wait running other; delete; wait state data deleted';
    const played = await play(ONE_POD + pod('other', 'nodeName: node-1'), steps);
    expect(played.outcome.failure).toBeUndefined();
  });
});
