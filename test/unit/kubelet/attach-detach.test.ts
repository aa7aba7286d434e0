import { answers, CLAIM, callsOf, eventsOf, ONE_POD, play, pod, STORAGE_CLASS } from './harness';

const TWO_NODES = `${STORAGE_CLASS.replace('WaitForFirstConsumer', 'Immediate')}${CLAIM}${pod('a', 'nodeName: node-1')}${pod('b', 'nodeName: node-2')}`;
const FIRST = 'create fake data a; wait running a';

test('a second node waits until the first lets go, and is told why', async () => {
  const played = await play(
    TWO_NODES,
    `${FIRST}; create b; wait event FailedAttachVolume b; delete a; wait running b; delete; wait clean`,
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedAttachVolume')).toEqual([
    expect.objectContaining({
      object: 'Pod default/b',
      message: expect.stringMatching(
        /^Multi-Attach error for volume "pvc-.*" Volume is already used by pod\(s\) a$/,
      ),
    }),
  ]);
  const order = played.calls
    .filter(({ method }) => /Controller(P|Unp)ublish|Unstage/.test(method))
    .map(({ method, node }) => [method, node].join(' ').trim());
  expect(order).toEqual([
    'ControllerPublishVolume',
    'NodeUnstageVolume node-1',
    'ControllerUnpublishVolume',
    'ControllerPublishVolume',
    'NodeUnstageVolume node-2',
    'ControllerUnpublishVolume',
  ]);
});

test('a pod that is deleted on a dead node holds its volume for ever', async () => {
  const played = await play(
    TWO_NODES,
    `${FIRST}; node down; create b; delete a; advance 15m; assert not running b; assert state data attached`,
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'ControllerUnpublishVolume')).toEqual([]);
});

test('deleted by force, its volume is detached by force: after six minutes, from a node that is not ready', async () => {
  const played = await play(TWO_NODES, `${FIRST}; node down; create b; force-delete a; wait running b`);
  expect(played.outcome.failure).toBeUndefined();
  const deleted = played.timeline.entries.find(({ text }) => text === 'force-delete a')?.at ?? 0;
  const [detach] = callsOf(played, 'ControllerUnpublishVolume');
  expect((detach?.at ?? 0) - deleted).toBeGreaterThan(360_000);
  expect((detach?.at ?? 0) - deleted).toBeLessThan(361_000);
  expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(
    /Volume is already exclusively attached to one node and can't be attached to another$/,
  );
});

test('it is not forced while the node is healthy and reports the volume in use', async () => {
  const played = await play(
    TWO_NODES,
    `${FIRST}; kubelet stop node-1; kubelet start node-1; wait state data mounted; advance 15m; assert state data attached`,
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'ControllerUnpublishVolume')).toEqual([]);
});

test('with the taint out-of-service nobody waits six minutes', async () => {
  const played = await play(
    TWO_NODES,
    `${FIRST}; node down; create b; delete a; taint out-of-service; wait running b within 2m`,
  );
  expect(played.outcome.failure).toBeUndefined();
});

test('back again, the node unmounts what it had and no pod wants', async () => {
  const played = await play(
    TWO_NODES,
    `${FIRST}; node down; create b; force-delete a; wait running b; node up; advance 1m`,
  );
  const later = played.calls.filter(
    ({ node, who, at }) => node === 'node-1' && who === 'kubelet' && at > 300_000,
  );
  expect(later.map(({ method }) => method).filter((method) => /Unpublish|Unstage/.test(method))).toEqual([
    'NodeUnpublishVolume',
    'NodeUnstageVolume',
  ]);
});

describe('a node that is full', () => {
  const manifests = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {nodeAllocatableUpdatePeriodSeconds: 10}
---${STORAGE_CLASS}${CLAIM}${pod('web')}`;
  const scenario = answers('ControllerPublishVolume', 'RESOURCE_EXHAUSTED(full)');

  test('rejects the pod after 2m3s, and asks NodeGetInfo each period', async () => {
    const played = await play(manifests, 'create; advance 2m; advance 10s', { scenario });
    const [web] = played.rehearsal.cluster.api.pods.all();
    expect([web?.phase, web?.reason]).toEqual(['Failed', 'VolumeAttachmentLimitExceeded']);
    const gaps = callsOf(played, 'NodeGetInfo').map(({ at }) => at);
    expect(gaps.length).toBeGreaterThanOrEqual(12);
    expect((gaps[2] ?? 0) - (gaps[1] ?? 0)).toBe(10_000);
    expect(played.outcome.standings[0]?.state).toBe('Failed: VolumeAttachmentLimitExceeded');
    expect(
      eventsOf(played, 'VolumeAttachmentLimitExceeded').map(({ type, message }) => [type, message]),
    ).toEqual([
      [
        'Warning',
        'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded',
      ],
    ]);
  });

  test.each([
    ['a kubelet 1.32', manifests, '1.32' as const],
    [
      'a driver without the period',
      manifests.replace('nodeAllocatableUpdatePeriodSeconds: 10', ''),
      '1.36' as const,
    ],
  ])('is waited for by %s', async (_, objects, version) => {
    const played = await play(objects, 'create; advance 5m', { scenario, version });
    expect(played.rehearsal.cluster.api.pods.all()[0]?.phase).toBe('Pending');
    expect(callsOf(played, 'NodeGetInfo')).toHaveLength(1);
  });
});

test('the controller looks at a VolumeAttachment less and less often, up to each seven seconds', async () => {
  const slow = await play(ONE_POD, 'create; wait event SuccessfulAttachVolume', {
    scenario: answers('ControllerPublishVolume', '1*delay(14s) -> ok'),
  });
  const began = slow.timeline.entries.find(({ text }) => /^VolumeAttachment .* made/.test(text))?.at ?? 0;
  const seen = eventsOf(slow, 'SuccessfulAttachVolume')[0]?.first ?? 0;
  // Pauses of 500 ms, each 5 % longer and up to a tenth more: none of the first 17 or 18 ends at a half second.
  expect(seen - began).toBeGreaterThan(14_000);
  expect((seen - began) % 500).not.toBe(0);
});

test('while a detach runs the next node waits without a word; when it has failed, with Multi-Attach', async () => {
  const steps =
    'create data first; wait running first; delete first; wait calls NodeUnstageVolume; advance 12s; create second; advance 2s';
  for (const [answer, events] of [
    ['hang', 0],
    ['INTERNAL(no)', 1],
  ] as const) {
    const manifests =
      STORAGE_CLASS.replace('WaitForFirstConsumer', 'Immediate') +
      CLAIM +
      pod('first', 'nodeName: n1') +
      pod('second', 'nodeName: n2');
    const played = await play(manifests, `create fake; ${steps}`, {
      scenario: answers('ControllerUnpublishVolume', answer),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(
      eventsOf(played, 'FailedAttachVolume').filter(({ message }) => message.startsWith('Multi-Attach')),
    ).toHaveLength(events);
  }
});
