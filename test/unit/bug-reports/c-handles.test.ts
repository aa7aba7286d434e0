import { CLAIM, callsOf, eventsOf, play, STORAGE_CLASS } from '../kubelet/harness';

const volume = (name: string) => `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-${name}}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {name: ${name}}
  csi: {driver: fake.csi.test, volumeHandle: shared-1, volumeAttributes: {size: 1Gi}}
---${CLAIM.replace('{name: data}', `{name: ${name}}`).replace('storageClassName: fake', 'storageClassName: ""')}`;

const POD = `
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers: [{name: main, volumeMounts: [{name: one, mountPath: /one}, {name: two, mountPath: /two}]}]
  volumes:
    - {name: one, persistentVolumeClaim: {claimName: one}}
    - {name: two, persistentVolumeClaim: {claimName: two}}
`;
const MANIFESTS = STORAGE_CLASS + volume('one') + volume('two') + POD;

describe('BL-124: two PersistentVolumes of one handle in one pod', () => {
  test('are one volume to the kubelet, mounted once', async () => {
    const played = await play(MANIFESTS, 'create; wait running; delete; wait clean');
    expect(played.outcome.failure).toBeUndefined();
    for (const method of ['NodeStageVolume', 'NodePublishVolume'])
      expect(callsOf(played, method).map(({ code }) => code)).toEqual(['OK']);
  });

  test('keep the pod of an older kubelet waiting, and its volume goes with it', async () => {
    const played = await play(
      MANIFESTS,
      'create; wait calls NodePublishVolume OK; advance 5m; assert not running; delete; wait clean',
      {
        version: '1.32',
      },
    );
    // It waits out its time in silence: a deadline is no event.
    expect(eventsOf(played, 'FailedMount')).toEqual([]);
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodePublishVolume')).toHaveLength(1);
  });
});
