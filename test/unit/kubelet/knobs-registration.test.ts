import { answers, CLAIM, callsOf, eventsOf, ONE_POD, play, pod, rules } from './harness';
import { askedOf, csiNodeOf, failuresOf, info, playShipped, verdictsOf } from './registering';

/** Knobs of a driver at its registration, by the numbers of docs/rehearsal.md. What it answers; for its sockets see knobs-registration-socket. */

const SOCKET = '/var/lib/kubelet/plugins_registry/fake.csi.test-reg.sock';
const ENDPOINT = '/var/lib/kubelet/plugins/fake.csi.test/csi.sock';
const INVALID = `RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver fake.csi.test at endpoint ${ENDPOINT}: kubernetes.io/csi: ValidatePlugin for CSI driver "fake.csi.test" failed. `;
const SENT = `RegisterPlugin error -- failed to send error at socket ${SOCKET}, err: `;
const NOT_IN_CSINODE = /: CSINode node-1 does not contain driver fake\.csi\.test$/;

describe('R1: GetInfo comes late', () => {
  const LATE = `RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket ${SOCKET}, err: rpc error: code = DeadlineExceeded desc = context deadline exceeded`;

  test('registration-late: given up after a second, three times, with growing pauses; pods wait, and then run', async () => {
    const played = await playShipped('registration-late', 'create; wait running');
    expect(played.outcome.failure).toBeUndefined();
    expect(askedOf(played, 'GetInfo')).toEqual([
      '1.0 DEADLINE_EXCEEDED',
      '3.0 DEADLINE_EXCEEDED',
      '6.0 DEADLINE_EXCEEDED',
      '10.0 OK',
    ]);
    expect(failuresOf(played)).toEqual([
      { at: 2_000, wait: '500ms', error: LATE },
      { at: 4_000, wait: '1s', error: LATE },
      { at: 7_000, wait: '2s', error: LATE },
    ]);
    expect(verdictsOf(played)).toEqual(['']);
    expect(csiNodeOf(played)).toEqual(['10.0 registered']);
    expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(NOT_IN_CSINODE);
  });

  test('a kubelet 1.32 tries again as well: it has not added the plugin yet', async () => {
    const played = await playShipped('registration-late', 'create; wait running', { version: '1.32' });
    expect(csiNodeOf(played)).toEqual(['10.0 registered']);
  });

  test.each([
    ['900ms', ['1.9 registered']],
    ['1100ms', []],
  ])('each answer takes %s', async (delay, registered) => {
    const scenario = rules(`{name: late, match: {rpc: GetInfo}, then: [{delay: ${delay}}]}`);
    const played = await play(ONE_POD, 'advance 1m', { scenario });
    expect(csiNodeOf(played)).toEqual(registered);
  });

  test('late for ever: FailedMount where nothing has to be attached, the pause grows to 2m2s', async () => {
    const scenario = rules('{name: late, match: {rpc: GetInfo}, then: [{delay: 2s}]}');
    const detached = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {attachRequired: false}
---`;
    const played = await play(
      detached + ONE_POD,
      'create; wait event FailedMount; advance 12m; assert not running',
      { scenario },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
      /driver name fake\.csi\.test not found in the list of registered CSI drivers$/,
    );
    const waits = failuresOf(played).map(({ wait }) => wait);
    expect(waits.slice(0, 10)).toEqual([
      '500ms',
      '1s',
      '2s',
      '4s',
      '8s',
      '16s',
      '32s',
      '1m4s',
      '2m2s',
      '2m2s',
    ]);
  });
});

describe('R3: no version that the kubelet speaks', () => {
  const none = (listed: string, shown: string, why: string) =>
    `None of the versions specified [${listed}] are supported. err=could not find a highest supported version from versions ([${shown}]) reported: ${why}`;

  test('registration-unsupported-version: another reason each time, told to the driver, and registered at the fourth', async () => {
    const played = await playShipped('registration-unsupported-version', 'create; wait running');
    expect(played.outcome.failure).toBeUndefined();
    const reasons = [
      none('"2.0.0"', '2.0.0', '<nil>'),
      none('"latest"', 'latest', 'could not parse "latest" as version'),
      'Plugin returned an empty list for supported versions',
    ];
    expect(verdictsOf(played)).toEqual([...reasons.map((reason) => INVALID + reason), '']);
    expect(failuresOf(played)).toEqual([
      { at: 1_000, wait: '500ms', error: SENT + INVALID + reasons[0] },
      { at: 2_000, wait: '1s', error: SENT + INVALID + reasons[1] },
      { at: 4_000, wait: '2s', error: SENT + INVALID + reasons[2] },
    ]);
    expect(csiNodeOf(played)).toEqual(['7.0 registered']);
    expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(NOT_IN_CSINODE);
  });

  test.each([
    ['[2.0.0, 3.1.0]', none('"2.0.0" "3.1.0"', '2.0.0 3.1.0', '<nil>')],
    ['["1"]', none('"1"', '1', 'illegal version string "1"')],
    ['[01.0.0]', none('"01.0.0"', '01.0.0', 'illegal zero-prefixed version component "01" in "01.0.0"')],
    [
      '[0.3.0]',
      'None of the versions specified ["0.3.0"] are supported. err=highest supported version reported is 0.3.0, must be v1.x',
    ],
  ])('%s is refused', async (versions, why) => {
    const played = await play(ONE_POD, 'advance 30s', {
      scenario: info(`{supported_versions: ${versions}}`),
    });
    expect(new Set(verdictsOf(played))).toEqual(new Set([INVALID + why]));
    expect(csiNodeOf(played)).toEqual([]);
  });

  test.each(['[1.0.0, 2.0.0]', '[2.0.0, 1.12.0]', '[latest, v1.0]'])('%s has one', async (versions) => {
    const played = await play(ONE_POD, 'advance 30s', {
      scenario: info(`{supported_versions: ${versions}}`),
    });
    expect(verdictsOf(played)).toEqual(['']);
    expect(csiNodeOf(played)).toEqual(['1.0 registered']);
  });
});

describe('R4: another type', () => {
  const noHandler = (type: string) =>
    `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${SOCKET}`;

  test('registration-wrong-type: nobody handles it, twice', async () => {
    const played = await playShipped('registration-wrong-type', 'create; wait running');
    expect(played.outcome.failure).toBeUndefined();
    expect(verdictsOf(played)).toEqual([noHandler('DRAPlugin2'), noHandler('DRAPlugin2'), '']);
    expect(failuresOf(played).map(({ error }) => error)).toEqual(
      Array(2).fill(SENT + noHandler('DRAPlugin2')),
    );
    expect(csiNodeOf(played)).toEqual(['4.0 registered']);
  });

  test.each([
    ['""', '{}', noHandler('')],
    [
      'DevicePlugin',
      '{}',
      'RegisterPlugin error -- plugin validation failed with err: manager version, v1beta1, is not among plugin supported versions [1.0.0]',
    ],
    [
      'DevicePlugin',
      '{supported_versions: [v1beta1]}',
      'RegisterPlugin error -- plugin validation failed with err: invalid name of device plugin socket: the ResourceName "fake.csi.test" is invalid',
    ],
  ])('%s %s', async (type, more, why) => {
    const scenario = info(`{type: ${type}, ${more.slice(1)}`);
    const played = await play(ONE_POD, 'advance 30s', { scenario });
    expect(new Set(verdictsOf(played))).toEqual(new Set([why]));
    expect(csiNodeOf(played)).toEqual([]);
  });

  const dra = (why: string) =>
    `RegisterPlugin error -- plugin validation failed with err: invalid supported gRPC versions of DRA driver plugin fake.csi.test at endpoint ${ENDPOINT}: ${why}`;

  test.each([
    [
      '1.36',
      '[1.0.0]',
      dra(
        'none of services supported by the plugin (["1.0.0"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
      ),
    ],
    ['1.36', '[]', dra('empty list of supported gRPC services (aka supported versions)')],
    ['1.32', '[1.0.0]', noHandler('DRAPlugin')],
    ['1.36', '[v1.DRAPlugin]', ''],
  ] as const)('DRAPlugin with %s, versions %s', async (version, versions, why) => {
    const scenario = info(`{type: DRAPlugin, supported_versions: ${versions}}`);
    const played = await play(ONE_POD, 'advance 30s', { scenario, version });
    expect(new Set(verdictsOf(played))).toEqual(new Set([why]));
    // Taken for another plugin's it is no driver of volumes all the same.
    expect(csiNodeOf(played)).toEqual([]);
    expect(callsOf(played, 'NodeGetInfo')).toEqual([]);
  });
});

describe('R5: NodeGetInfo', () => {
  test('hangs: given up after two minutes, and asked again', async () => {
    const played = await play(ONE_POD, 'create; wait running', {
      scenario: answers('NodeGetInfo', '1*hang -> ok'),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeGetInfo').slice(0, 2)).toEqual([
      expect.objectContaining({ code: 'DEADLINE_EXCEEDED', durationMs: 120_000 }),
      expect.objectContaining({ code: 'OK' }),
    ]);
  });

  test('a negative limit is no limit, and no error', async () => {
    const scenario = rules(
      '{name: less, match: {rpc: NodeGetInfo}, then: [{respond: {merge: {max_volumes_per_node: -3}}}]}',
    );
    const played = await play(ONE_POD, 'create; wait running', { scenario });
    expect(played.outcome.failure).toBeUndefined();
    expect(played.rehearsal.cluster.node('node-1')?.object.allocatable.size).toBe(0);
  });
});

describe('R6: the verdict is not taken', () => {
  const unheard = (text: string) =>
    `RegisterPlugin error -- failed to send registration status at socket ${SOCKET}, err: : rpc error: code = Internal desc = ${text}`;

  test('registration-refused: 1.36 takes the driver out of CSINode and tries again', async () => {
    const played = await playShipped('registration-refused', 'create; wait running');
    expect(played.outcome.failure).toBeUndefined();
    expect(csiNodeOf(played)).toEqual([
      '1.0 registered',
      '1.0 removed',
      '2.0 registered',
      '2.0 removed',
      '4.0 registered',
      '4.0 removed',
      '7.0 registered',
    ]);
    expect(failuresOf(played).map(({ error }) => error)).toEqual(
      [1, 2, 3].map((n) => unheard(`[scenario registration-refused: rule unheard, ${n}] not now`)),
    );
  });

  test('registration-refused: 1.32 leaves it registered, and nobody notices', async () => {
    const played = await playShipped('registration-refused', 'create; wait running; advance 5m', {
      version: '1.32',
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(csiNodeOf(played)).toEqual(['1.0 registered']);
    expect(askedOf(played, 'NotifyRegistrationStatus')).toEqual(['1.0 INTERNAL']);
  });

  test('never taken: 1.36 goes on for ever', async () => {
    const played = await play(ONE_POD, 'create; advance 10m; assert not running', {
      scenario: answers('NotifyRegistrationStatus', 'INTERNAL(no)'),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(failuresOf(played).at(-1)?.wait).toBe('2m2s');
    expect(csiNodeOf(played).at(-1)).toMatch(/ removed$/);
  });

  test('a verdict that is heard after six seconds has failed after five', async () => {
    const scenario = rules(
      '{name: slow, match: {rpc: NotifyRegistrationStatus}, when: {times: 1}, then: [{delay: 6s}]}',
    );
    const played = await play(ONE_POD, 'advance 20s', { scenario });
    expect(csiNodeOf(played)).toEqual(['1.0 registered', '6.0 removed', '7.0 registered']);
  });
});

describe('R10: another name', () => {
  test('a volume of a driver of another name: not found among the registered ones', async () => {
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

  test('GetInfo says another name: that is registered, and pods of the right one wait', async () => {
    const played = await play(ONE_POD, 'create; wait event FailedAttachVolume; assert not running', {
      scenario: info('{name: other.csi.test}'),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect([...(played.rehearsal.cluster.node('node-1')?.object.csiDrivers.keys() ?? [])]).toEqual([
      'other.csi.test',
    ]);
    expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(NOT_IN_CSINODE);
  });
});

describe('R11: another endpoint', () => {
  const refused = (why: string) => `RegisterPlugin error -- plugin registration failed with err: ${why}`;

  test('nobody listens there: NodeGetInfo is UNAVAILABLE, told to the driver, and tried again with growing pauses', async () => {
    const played = await play(ONE_POD, 'create; wait running', {
      scenario: info('{endpoint: /nowhere/csi.sock}', 'when: {times: 4}, '),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(askedOf(played, 'NodeGetInfo')).toEqual([
      '1.0 UNAVAILABLE',
      '2.0 UNAVAILABLE',
      '4.0 UNAVAILABLE',
      '7.0 UNAVAILABLE',
      '12.0 OK',
    ]);
    const why = refused(
      'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /nowhere/csi.sock: connect: no such file or directory"',
    );
    expect(verdictsOf(played)).toEqual([...Array(4).fill(why), '']);
    expect(failuresOf(played).map(({ error }) => error)).toEqual(Array(4).fill(why));
    expect(csiNodeOf(played)).toEqual(['12.0 registered']);
  });

  test('1.32 does not try again: the driver makes its socket anew after a second', async () => {
    const played = await play(ONE_POD, 'create; wait running', {
      scenario: info('{endpoint: /nowhere/csi.sock}', 'when: {times: 1}, '),
      version: '1.32',
    });
    expect(askedOf(played, 'NodeGetInfo')).toEqual(['1.0 UNAVAILABLE', '3.0 OK']);
  });

  test('an empty one means the registration socket, where nobody serves the Node service', async () => {
    const played = await play(ONE_POD, 'advance 1s', { scenario: info("{endpoint: ''}") });
    expect(verdictsOf(played)[0]).toBe(
      refused(
        'rpc error: code = Unimplemented desc = The server does not implement the method /csi.v1.Node/NodeGetInfo',
      ),
    );
  });
});
