import { CLAIM, callsOf, eventsOf, play, pod, rules, STORAGE_CLASS, staticVolume } from './harness';

const KEY = 'topology.fake.csi.test/zone';
/** node-2 is in another zone than node-1. */
const ZONES = rules(
  `{name: zone, match: {rpc: NodeGetInfo, node: node-2}, then: [{respond: {merge: {accessible_topology: {segments: {${KEY}: b}}}}}]}`,
);
const other = `
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {nodeName: node-2, containers: [{name: main}]}
---`;
const segments = (...zones: string[]) => zones.map((zone) => ({ segments: { [KEY]: zone } }));

test('the provisioner asks for every zone, and first for that of the node which the scheduler chose', async () => {
  const scheduled = await play(STORAGE_CLASS + CLAIM + other + pod('web'), 'create; wait running', {
    scenario: ZONES,
  });
  expect(scheduled.outcome.failure).toBeUndefined();
  expect(callsOf(scheduled, 'CreateVolume')[0]?.request).toMatchObject({
    accessibility_requirements: {
      requisite: segments('b', 'default'),
      preferred: segments('default', 'b'),
    },
  });
});

test('the volume’s node affinity is what CreateVolume answered; a pod that comes later goes there', async () => {
  const played = await play(STORAGE_CLASS + CLAIM + other + pod('web'), 'create; wait running', {
    scenario: ZONES,
  });
  const [pv] = played.rehearsal.cluster.api.volumes.all();
  const answered = pv?.nodeAffinity.map((term) => term[KEY]);
  expect(answered?.length).toBeGreaterThan(0);
  expect(answered).toContainEqual(['default']);
});

const STATIC = (zone: string) => {
  const terms = `[{matchExpressions: [{key: ${KEY}, operator: In, values: [${zone}]}]}]`;
  return staticVolume({ spec: `nodeAffinity: {required: {nodeSelectorTerms: ${terms}}}` });
};

test.each([
  ['1.32', 'node(s) had volume node affinity conflict'],
  ['1.36', "node(s) didn't match PersistentVolume's node affinity"],
] as const)(
  'no node can reach the volume: a pod stays Pending, and kubelet %s’s scheduler says why',
  async (version, reason) => {
    const played = await play(
      STATIC('c') + pod('web'),
      'create; wait event FailedScheduling; advance 5m; assert not running',
      {
        version,
      },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedScheduling')).toEqual([
      expect.objectContaining({
        source: 'scheduler',
        message: `0/1 nodes are available: 1 ${reason}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`,
      }),
    ]);
    expect(callsOf(played, 'ControllerPublishVolume')).toEqual([]);
  },
);

test('a pod that names its node passes the scheduler by, and fails at the kubelet', async () => {
  const played = await play(
    STATIC('c') + pod('web', 'nodeName: node-1'),
    'create; advance 1m; assert not running',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedMount').map(({ message }) => message)).toContain(
    'MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms',
  );
  expect(callsOf(played, 'NodeStageVolume')).toEqual([]);
});

test('the scheduler takes the node that can reach it', async () => {
  const played = await play(STATIC('b') + other + pod('web'), 'create; wait running web', {
    scenario: ZONES,
  });
  expect(played.outcome.failure).toBeUndefined();
  expect(played.rehearsal.cluster.api.pods.get('default/web')?.nodeName).toBe('node-2');
});

test('allowedTopologies: volumes are asked for there alone, and pods that need them go nowhere else', async () => {
  const allowed = (zone: string) =>
    STORAGE_CLASS.replace(
      'allowVolumeExpansion: true',
      `allowedTopologies: [{matchLabelExpressions: [{key: ${KEY}, values: [${zone}]}]}]`,
    );
  const there = await play(allowed('b') + CLAIM + other + pod('web'), 'create; wait calls CreateVolume', {
    scenario: ZONES,
  });
  expect(there.outcome.failure).toBeUndefined();
  expect(there.rehearsal.cluster.api.claims.get('default/data')?.selectedNode).toBe('node-2');
  expect(callsOf(there, 'CreateVolume')[0]?.request).toMatchObject({
    accessibility_requirements: { requisite: segments('b'), preferred: segments('b') },
  });
  const nowhere = await play(allowed('c') + CLAIM + pod('web'), 'create; wait event FailedScheduling');
  expect(eventsOf(nowhere, 'FailedScheduling')[0]?.message).toMatch(
    /^0\/1 nodes are available: 1 node\(s\) didn't find available persistent volumes to bind\./,
  );
  expect(callsOf(nowhere, 'CreateVolume')).toEqual([]);
});

test('without topology nothing is asked for', async () => {
  const scenario = rules(
    '{name: none, match: {rpc: NodeGetInfo}, then: [{respond: {merge: {accessible_topology: null}}}]}',
  );
  const played = await play(STORAGE_CLASS + CLAIM + pod('web'), 'create; wait running', { scenario });
  expect(callsOf(played, 'CreateVolume')[0]?.request).not.toHaveProperty('accessibility_requirements');
});
