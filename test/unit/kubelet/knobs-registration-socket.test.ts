import { callsOf, eventsOf, ONE_POD, play, rules } from './harness';
import { askedOf, csiNodeOf, failuresOf, playShipped, verdictsOf } from './registering';

/** Knobs of a driver's registration sockets, by the numbers of docs/rehearsal.md. What it answers on them: knobs-registration. */

const FIRST = 'fake.csi.test-reg.sock';
const SECOND = 'fake.csi.test-reg2.sock';
const dialFailed = (name: string) => {
  const socket = `/var/lib/kubelet/plugins_registry/${name}`;
  return `RegisterPlugin error -- dial failed at socket ${socket}, err: failed to dial socket ${socket}, err: context deadline exceeded`;
};

describe('R2: a socket that nobody listens on, and one that says nothing', () => {
  test('registration-dead-socket: ten seconds for each dial; the pause of the path stays when the file is another one', async () => {
    const played = await playShipped('registration-dead-socket', 'create; wait running');
    expect(played.outcome.failure).toBeUndefined();
    // Dead until 30 s, silent until 60 s: what dials then is answered.
    expect(failuresOf(played)).toEqual([
      { at: 11_000, wait: '500ms', error: dialFailed(FIRST) },
      { at: 22_000, wait: '1s', error: dialFailed(FIRST) },
      { at: 34_000, wait: '2s', error: dialFailed(FIRST) },
      { at: 47_000, wait: '4s', error: dialFailed(FIRST) },
    ]);
    expect(askedOf(played, 'GetInfo')).toEqual(['60.0 OK', '62.0 OK']);
    // The socket that was dialled at first is another one by then.
    expect(csiNodeOf(played)).toEqual(['60.0 registered', '61.0 removed', '62.0 registered']);
    expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(
      /: CSINode node-1 does not contain driver fake\.csi\.test$/,
    );
  });

  test.each(['dead', 'silent'])('armed later, a %s one is a de-registration, and stays one', async (kind) => {
    const scenario = rules(
      `{name: later, match: {service: registration}, when: {after: 5s, times: 1}, then: [{registration: {${kind}: true}}]}`,
    );
    const played = await play(ONE_POD, 'advance 10m', { scenario });
    expect(csiNodeOf(played)).toEqual(['1.0 registered', '5.0 removed']);
    expect(
      failuresOf(played)
        .map(({ wait }) => wait)
        .slice(-2),
    ).toEqual(['2m2s', '2m2s']);
    expect(callsOf(played, 'GetInfo')).toHaveLength(1);
  });

  test('a driver that is killed leaves its socket: the kubelet goes on believing in it, one that restarts does not', async () => {
    const steps = 'create; wait running; driver kill; advance 1m';
    const left = await play(ONE_POD, steps);
    expect(csiNodeOf(left)).toEqual(['1.0 registered']);
    const restarted = await play(ONE_POD, `${steps}; kubelet restart; advance 30s`);
    expect(failuresOf(restarted)[0]?.error).toBe(dialFailed(FIRST));
    const back = await play(ONE_POD, `${steps}; driver start; advance 5s; delete; wait clean`);
    expect(back.outcome.failure).toBeUndefined();
    expect(csiNodeOf(back).map((line) => line.split(' ')[1])).toEqual([
      'registered',
      'removed',
      'registered',
    ]);
    expect(callsOf(back, 'NodeStageVolume')).toHaveLength(1);
  });
});

describe('R7: a second socket of the same name', () => {
  const refused =
    'RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver fake.csi.test at endpoint /var/lib/kubelet/plugins/fake.csi.test/csi.sock: kubernetes.io/csi: ValidatePlugin for CSI driver "fake.csi.test" failed. Another driver with the same name is already registered with a higher supported version: "1.0.0"';

  test('registration-second-owner: refused again and again, until it goes; pods do not notice', async () => {
    const played = await playShipped(
      'registration-second-owner',
      'create; wait running; advance 4m; assert running; delete; wait clean',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(csiNodeOf(played)).toEqual(['1.0 registered']);
    const failures = failuresOf(played);
    expect(failures.map(({ at, wait }) => `${at / 1000} ${wait}`)).toEqual([
      '10 500ms',
      '11 1s',
      '13 2s',
      '16 4s',
      '21 8s',
      '30 16s',
      '47 32s',
      '80 1m4s',
    ]);
    expect(new Set(failures.map(({ error }) => error))).toEqual(
      new Set([
        `RegisterPlugin error -- failed to send error at socket /var/lib/kubelet/plugins_registry/${SECOND}, err: ${refused}`,
      ]),
    );
    expect(verdictsOf(played)).toEqual(['', ...Array(8).fill(refused)]);
    expect(askedOf(played, 'GetInfo', FIRST)).toEqual(['1.0 OK']);
  });

  test('where things stand says of the second that it is not registered, and why', async () => {
    const played = await playShipped('registration-second-owner', 'create; wait running; advance 10s');
    expect(played.outcome.standings).toEqual([
      {
        what: `plugin at /var/lib/kubelet/plugins_registry/${SECOND}`,
        state: 'not registered with node-1',
        why: [expect.stringMatching(/^4 tries: RegisterPlugin error -- .*"1\.0\.0"; next try in \d/)],
      },
      expect.objectContaining({ what: 'pod default/web', state: 'Running' }),
    ]);
  });

  const second = (more: string) =>
    rules(
      '{name: twin, match: {service: registration}, when: {after: 5s, times: 1}, then: [{registration: {second: true, for: 20s}}]}',
      more,
    );

  test('one of a higher version replaces the first; when it goes, nobody is registered, although the first is still there', async () => {
    const scenario = second(
      '{name: newer, match: {rpc: GetInfo}, when: {nth: 2}, then: [{respond: {merge: {supported_versions: [1.1.0]}}}]}',
    );
    const played = await play(ONE_POD, 'create; wait running; advance 2m', { scenario });
    expect(csiNodeOf(played)).toEqual(['1.0 registered', '5.0 registered', '25.0 removed']);
    expect(verdictsOf(played)).toEqual(['', '']);
    const healed = await play(
      ONE_POD,
      'create; wait running; advance 2m; driver restart; advance 5s; delete; wait clean',
      { scenario },
    );
    expect(healed.outcome.failure).toBeUndefined();
  });

  test('one of another name is registered beside it', async () => {
    const scenario = second(
      '{name: other, match: {rpc: GetInfo}, when: {nth: 2}, then: [{respond: {merge: {name: other.csi.test}}}]}',
    );
    const played = await play(ONE_POD, 'advance 10s', { scenario });
    const drivers = played.rehearsal.cluster.node('node-1')?.object.csiDrivers;
    expect([...(drivers?.keys() ?? [])]).toEqual(['fake.csi.test', 'other.csi.test']);
  });
});

describe('R8: the socket goes while pods run', () => {
  test('registration-socket-gone: what is mounted stays, what is deleted hangs, and both end when it is back', async () => {
    const played = await playShipped(
      'registration-socket-gone',
      'create; wait running; advance 21s; assert running; delete; advance 20s; assert not gone; assert calls NodeUnpublishVolume =0; wait clean',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(csiNodeOf(played)).toEqual(['1.0 registered', '30.0 removed', '90.0 registered']);
    expect(
      played.timeline.entries.some(({ text }) =>
        /UnmountVolume\.TearDown failed .*driver name fake\.csi\.test not found in the list of registered CSI drivers/.test(
          text,
        ),
      ),
    ).toBe(true);
  });
});

describe('R9: it goes and comes', () => {
  test('registration-flap: once in each of its windows', async () => {
    const played = await playShipped(
      'registration-flap',
      'create; wait running; advance 110s; assert running',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(csiNodeOf(played)).toEqual([
      '1.0 registered',
      '40.0 removed',
      '55.0 registered',
      '95.0 removed',
      '110.0 registered',
    ]);
  });

  test('by the clock: a minute of each hour', async () => {
    const scenario = rules(
      '{name: hourly, match: {service: registration}, when: {window: {cron: "0 * * * *", for: 1m}, skip: 1}, then: [{registration: {unregister: true}}]}',
    );
    const played = await play(ONE_POD, 'advance 2h30m', { scenario });
    expect(csiNodeOf(played)).toEqual([
      '1.0 registered',
      '3600.0 removed',
      '3660.0 registered',
      '7200.0 removed',
      '7260.0 registered',
    ]);
  });

  test('for less than the kubelet looks away: de-registered all the same', async () => {
    const scenario = rules(
      '{name: blink, match: {service: registration}, when: {after: 5200ms, times: 1}, then: [{registration: {unregister: true, for: 100ms}}]}',
    );
    const played = await play(ONE_POD, 'advance 20s', { scenario });
    expect(csiNodeOf(played)).toEqual(['1.0 registered', '6.0 removed', '7.0 registered']);
  });

  test('by hand: registered anew, and what is mounted stays', async () => {
    const played = await play(
      ONE_POD,
      'create; wait running; plugin unregister; advance 5s; plugin register; advance 2s; assert state data mounted; delete; wait clean',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeGetInfo')).toHaveLength(2);
    expect(callsOf(played, 'NodeStageVolume')).toHaveLength(1);
  });

  test('by hand, before the driver restarts: its new process makes its socket by itself', async () => {
    const played = await play(
      ONE_POD,
      'advance 2s; plugin unregister; advance 5s; kubelet restart; advance 5s; driver restart; advance 2s',
    );
    expect(csiNodeOf(played).map((line) => line.split(' ')[1])).toEqual([
      'registered',
      'removed',
      'registered',
    ]);
  });
});

test('a scenario that ends by itself ends what it did to the sockets', async () => {
  const scenario = `${rules(
    '{name: dead, match: {service: registration}, when: {after: 5s, times: 1}, then: [{registration: {dead: true}}]}',
  ).replace('spec:', 'spec:\n  expires: 20s')}`;
  const played = await play(ONE_POD, 'create; wait running; advance 20s', { scenario });
  expect(csiNodeOf(played).slice(0, 2)).toEqual(['1.0 registered', '5.0 removed']);
  const [again = ''] = csiNodeOf(played).slice(2);
  expect(again).toMatch(/registered$/);
  expect(Number.parseFloat(again)).toBeGreaterThanOrEqual(20);
});

test('what a rule does to the sockets by a call: time stands still until that call has ended', async () => {
  const scenario = rules(
    '{name: burnt, match: {rpc: NodeStageVolume}, when: {times: 1}, then: [{registration: {unregister: true, for: 10s}}]}',
  );
  const played = await play(ONE_POD, 'create; wait running; advance 20s', { scenario });
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeStageVolume')).toEqual([
    expect.objectContaining({ code: 'OK', durationMs: 0 }),
  ]);
  const [, removed = '', again = ''] = csiNodeOf(played);
  expect(removed).toMatch(/removed$/);
  expect(Number.parseFloat(again) - Number.parseFloat(removed)).toBe(10);
});
