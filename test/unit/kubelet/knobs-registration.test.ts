import { answers, CLAIM, callsOf, eventsOf, ONE_POD, play, pod, rules } from './harness';

/** Knobs of a driver at its registration, by the numbers of docs/rehearsal.md. */

const logged = (played: Awaited<ReturnType<typeof play>>, text: RegExp) =>
  played.timeline.entries.some((entry) => entry.kind === 'log' && text.test(entry.text));

test('R5: NodeGetInfo hangs: given up after two minutes, and asked again', async () => {
  const played = await play(ONE_POD, 'create; wait running', {
    scenario: answers('NodeGetInfo', '1*hang -> ok'),
  });
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeGetInfo').slice(0, 2)).toEqual([
    expect.objectContaining({ code: 'DEADLINE_EXCEEDED', durationMs: 120_000 }),
    expect.objectContaining({ code: 'OK' }),
  ]);
});

test('R5: a negative limit is no limit, and no error', async () => {
  const scenario = rules(
    '{name: less, match: {rpc: NodeGetInfo}, then: [{respond: {merge: {max_volumes_per_node: -3}}}]}',
  );
  const played = await play(ONE_POD, 'create; wait running', { scenario });
  expect(played.outcome.failure).toBeUndefined();
  expect(played.rehearsal.cluster.node('node-1')?.object.allocatable.size).toBe(0);
});

test('R9: the socket goes and comes: registered anew, and what is mounted stays', async () => {
  const played = await play(
    ONE_POD,
    'create; wait running; plugin unregister; advance 5s; plugin register; advance 2s; assert state data mounted; delete; wait clean',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeGetInfo')).toHaveLength(2);
  expect(callsOf(played, 'NodeStageVolume')).toHaveLength(1);
});

test('R10: a volume of a driver of another name: not found among the registered ones', async () => {
  const manifests = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: other.test}
spec: {attachRequired: false}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  csi: {driver: other.test, volumeHandle: static-1}
---${CLAIM.replace('storageClassName: fake', 'storageClassName: ""')}${pod('web')}`;
  const played = await play(manifests, 'create; wait event FailedMount; advance 1m; assert not running');
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
    /driver name other\.test not found in the list of registered CSI drivers$/,
  );
  expect(played.kubeletCalls).toEqual([]);
});

test('R11: nobody behind the endpoint: NodeGetInfo is UNAVAILABLE, and tried again with growing pauses', async () => {
  const played = await play(ONE_POD, 'create; wait running', {
    scenario: answers('NodeGetInfo', '4*UNAVAILABLE(no listener) -> ok'),
  });
  expect(played.outcome.failure).toBeUndefined();
  const at = callsOf(played, 'NodeGetInfo').map((call) => call.at);
  expect(at.slice(1, 5).map((moment, index) => moment - (at[index] ?? 0))).toEqual([
    500, 1_000, 2_000, 4_000,
  ]);
  expect(logged(played, /plugin registration failed with err: rpc error: code = Unavailable/)).toBe(true);
});
