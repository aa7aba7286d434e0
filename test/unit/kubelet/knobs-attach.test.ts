import { answers, callsOf, eventsOf, ONE_POD, play, pod, rules, staticVolume, work } from './harness';

/** Knobs of a driver at the attach, by the numbers of docs/rehearsal.md. */

test('A4: a publish context of another volume is the stage’s error, final, until the driver is told right', async () => {
  const scenario = rules(
    '{name: elsewhere, match: {rpc: ControllerPublishVolume}, then: [{respond: {merge: {publish_context: {attachment: of-another}}}}]}',
  );
  const played = await play(
    ONE_POD,
    'create; wait event FailedMount; assert state data not-staged; delete; wait clean',
    {
      scenario,
    },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeStageVolume')[0]).toMatchObject({
    code: 'FAILED_PRECONDITION',
    request: { publish_context: { attachment: 'of-another' } },
  });
  expect(work(played).filter((call) => call.startsWith('NodeUnstage'))).toEqual([]);
});

const TWO_NODES =
  ONE_POD.replace('WaitForFirstConsumer', 'Immediate').replace('spec:\n  \n', 'spec:\n  nodeName: node-1\n') +
  pod('second', 'nodeName: node-2');

test.each([
  ['fails', 'INTERNAL(no)'],
  ['hangs', 'hang'],
])(
  'A5: ControllerUnpublishVolume %s: the VolumeAttachment stays, and the next node waits',
  async (_, task) => {
    const played = await play(
      TWO_NODES,
      'create fake data web; wait running web; delete web; wait gone web; create second; wait event FailedAttachVolume second; advance 1m; assert not running second; assert state data attached',
      { scenario: answers('ControllerUnpublishVolume', task) },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedAttachVolume').at(-1)?.message).toMatch(/^Multi-Attach error for volume/);
  },
);

test('A6: a slow attach costs what it takes, and at most ten seconds until the node has reported the volume', async () => {
  const played = await play(ONE_POD, 'create; wait running', {
    scenario: answers('ControllerPublishVolume', '1*delay(12s) -> ok'),
  });
  expect(played.outcome.failure).toBeUndefined();
  const [attach] = callsOf(played, 'ControllerPublishVolume');
  const [stage] = callsOf(played, 'NodeStageVolume');
  expect(attach).toMatchObject({ code: 'OK', durationMs: 12_000 });
  const waited = (stage?.at ?? 0) - (attach?.at ?? 0) - 12_000;
  expect(waited).toBeGreaterThanOrEqual(0);
  expect(waited).toBeLessThanOrEqual(10_500);
  expect(eventsOf(played, 'FailedAttachVolume')).toEqual([]);
});

test('A6: slower than the attacher waits: told at each try, and it heals', async () => {
  const played = await play(ONE_POD, 'create; wait running', {
    scenario: answers('ControllerPublishVolume', '6*hang -> ok'),
  });
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedAttachVolume')[0]?.count).toBeGreaterThan(1);
});

describe('a plugin that does not serve Controller', () => {
  const none = (services: string) =>
    rules(
      '{name: none, match: {rpc: ControllerGetCapabilities}, then: [{error: UNIMPLEMENTED}]}',
      `{name: said, match: {rpc: GetPluginCapabilities}, then: [{respond: {merge: {capabilities: ${services}}}}]}`,
    );
  const VOLUME = staticVolume() + pod('web');

  test('is attached by the external-attacher without a call', async () => {
    const steps = 'create; wait state data attached; wait calls NodeStageVolume; delete; wait clean';
    const played = await play(VOLUME, steps, { scenario: none('[]') });
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'ControllerPublishVolume')).toEqual([]);
    expect(callsOf(played, 'ControllerUnpublishVolume')).toEqual([]);
    expect(callsOf(played, 'ControllerGetCapabilities')).toHaveLength(1);
  });

  test('and says that it does, is stuck', async () => {
    const steps = 'create; wait event FailedAttachVolume; advance 1m; assert not state data attached';
    const played = await play(VOLUME, steps, { scenario: none('[{service: {type: CONTROLLER_SERVICE}}]') });
    expect(played.outcome.failure).toBeUndefined();
  });
});
