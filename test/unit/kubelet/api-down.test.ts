import type { Pod } from '../../../src/kubelet/objects';
import { Seeded } from '../../../src/kubelet/seeded';
import { ServiceAccountTokens } from '../../../src/kubelet/service-account-tokens';
import { VirtualClock } from '../../../src/util/virtual-clock';
import { driver, INLINE, passed, RUNNING, saidAt, why } from './api-down';
import {
  answers,
  CLAIM,
  callsOf,
  eventsOf,
  ONE_POD,
  type Played,
  pod,
  rules,
  STORAGE_CLASS,
  work,
} from './harness';

describe('the API server goes while a kubelet runs', () => {
  test('pods keep what they have, statistics go on, nothing is called or said, and a deletion after it works', async () => {
    const played = await passed(
      ONE_POD,
      `${RUNNING}; api stop; advance 20m; assert running; assert state data mounted; api start; advance 2m; delete; wait clean`,
    );
    const during = played.calls.filter(({ at }) => at > 30_000 && at < 1_225_000).map(({ method }) => method);
    expect(new Set(during)).toEqual(new Set(['NodeGetCapabilities', 'NodeGetVolumeStats']));
    expect(
      saidAt(played, /^Failed to ensure lease exists, will retry: Get ".*connection refused$/),
    ).toBeGreaterThan(25_000);
    expect(work(played)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
    ]);
    expect(eventsOf(played, 'FailedMount')).toEqual([]);
  });

  test('a pod that was deleted before is unmounted; its object, volumesInUse and the attachment wait', async () => {
    const played = await passed(
      ONE_POD,
      `${RUNNING}; delete; advance 1s; api stop; wait calls NodeUnstageVolume within 5s; advance 10m; assert not gone; assert state data forgotten; assert state data in-use; assert state data attached; assert calls ControllerUnpublishVolume =0; api start; wait gone within 10s; wait clean within 2m`,
    );
    expect(
      saidAt(played, /^Failed to delete status for pod: Delete "\/api\/v1\/namespaces\/default\/pods\/web"/),
    ).toBeDefined();
    expect(
      saidAt(played, /^Unable to update node status: update node status exceeds retry count/),
    ).toBeDefined();
  });

  test('the claim of a pod is read anew each time: no repeated publish of a PersistentVolume, and none lost after it', async () => {
    const manifests = driver('requiresRepublish: true') + ONE_POD;
    const played = await passed(
      manifests,
      `${RUNNING}; advance 5m; api stop; advance 10m; api start; advance 5m; assert running`,
    );
    const at = callsOf(played, 'NodePublishVolume').map((call) => call.at);
    expect(at.filter((moment) => moment < 325_000).length).toBeGreaterThan(3);
    // One that was wanted in the last moment before.
    expect(at.filter((moment) => moment > 326_000 && moment < 925_000)).toEqual([]);
    expect(at.filter((moment) => moment > 925_000).length).toBeGreaterThan(2);
    // All that it has is mounted: that is no failure of the pod's sync.
    expect(eventsOf(played, 'FailedMount')).toEqual([]);
  });

  test('an inline volume needs no object: it is published again all the while', async () => {
    const manifests = driver(
      'requiresRepublish: true, attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: [Ephemeral]',
    );
    const played = await passed(manifests + INLINE, `${RUNNING}; api stop; advance 10m; assert running`);
    const during = callsOf(played, 'NodePublishVolume').filter(({ at }) => at > 30_000);
    expect(during.length).toBeGreaterThan(5);
    expect(new Set(during.map(({ code }) => code))).toEqual(new Set(['OK']));
  });

  test('a volume that is attached and not yet seen: VerifyControllerAttachedVolume fails, backs off, and works at its next try', async () => {
    const played = await passed(
      ONE_POD,
      'create; wait state data in-use; api stop; advance 10m; assert not state data staged; assert calls NodeStageVolume =0; api start; wait running within 123s',
    );
    expect(
      saidAt(
        played,
        /^verify_controller_attached_volume failed \(try 11\).*durationBeforeRetry 2m2s.*fetching pvc failed for volume "pvc-.*" : Get/,
      ),
    ).toBeDefined();
  });

  test('between stage and publish: the VolumeAttachment cannot be read, which is transient, and the stage stays', async () => {
    const played = await passed(
      ONE_POD,
      'create; wait state data in-use; advance 3s; api stop; wait state data staged within 10s; advance 5m; assert not state data mounted; api start; wait running within 123s',
      { scenario: answers('NodeStageVolume', '1*delay(5s) -> ok') },
    );
    expect(work(played)).toEqual(['NodeStageVolume OK', 'NodePublishVolume OK']);
    const failed =
      /MountVolume\.SetUp failed for volume "pvc-.*" : kubernetes\.io\/csi: mounter\.SetUpAt failed to fetch publishContext: Get "\/apis\/storage\.k8s\.io\/v1\/volumeattachments\/csi-\w+": dial tcp: connect: connection refused/;
    expect(saidAt(played, failed)).toBeDefined();
    // From then on it ends before.
    expect(saidAt(played, /MountVolume\.WaitForAttach failed for volume "pvc-/)).toBeDefined();
  });

  test('during the publish: the claim cannot be read, the mount is uncertain, and NodePublishVolume comes again', async () => {
    const played = await passed(
      ONE_POD,
      'create; wait calls NodeStageVolume; advance 1s; api stop; wait calls NodePublishVolume OK within 10s; advance 1s; assert state data mount-uncertain; advance 5m; api start; wait running within 123s',
      { scenario: answers('NodePublishVolume', '1*delay(5s) -> ok') },
    );
    expect(work(played)).toEqual(['NodeStageVolume OK', 'NodePublishVolume OK', 'NodePublishVolume OK']);
    expect(
      saidAt(
        played,
        /while expanding volume for volume ".*" : mountVolume\.NodeExpandVolume get PVC failed : Get/,
      ),
    ).toBeDefined();
  });

  test('a raw block volume whose attachment cannot be read: final for 1.32, open for 1.36', async () => {
    const manifests =
      STORAGE_CLASS +
      CLAIM.replace('spec: {', 'spec: {volumeMode: Block, ') +
      pod('db').replace(
        'volumeMounts: [{name: data, mountPath: /data}]',
        'volumeDevices: [{name: data, devicePath: /dev/x}]',
      );
    const scenario = answers('NodeGetCapabilities', '1*delay(5s) -> ok');
    // It is read before the question that comes before NodeStageVolume, and that takes so long that nobody answers after it.
    const steps = 'create; wait state data in-use; advance 3s; api stop; advance 2300ms';
    const newer = await passed(manifests, steps, { scenario });
    expect(why(newer)).toMatch(
      /map_volume fails \(1 try\), transient: .*MapVolume\.MapPodDevice failed for volume .* : kubernetes\.io\/csi: blockMapper\.MapPodDevice failed to get volume attachment \[id=csi-/,
    );
    const older = await passed(manifests, steps, { scenario, version: '1.32' });
    expect(why(older)).toMatch(/final: the kubelet forgets the mount.*MapVolume\.MapPodDevice failed/);
  });

  test('a pod that starts meanwhile is Running when its status can be written', async () => {
    const played = await passed(
      driver('attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: [Ephemeral]') + INLINE,
      'create; advance 1s; api stop; advance 1m; assert not running; api start; wait running within 10s',
      { scenario: answers('NodePublishVolume', '1*delay(5s) -> ok') },
    );
    expect(saidAt(played, /^Failed to update status for pod: Patch ".*\/pods\/web\/status"/)).toBeDefined();
  });

  test('a node expansion is written into its claim first: the driver is not asked before', async () => {
    const played = await passed(
      ONE_POD,
      `${RUNNING}; expand data 2Gi; wait calls ControllerExpandVolume OK; api stop; advance 5m; assert calls NodeExpandVolume =0; api start; wait calls NodeExpandVolume OK within 3m`,
    );
    expect(callsOf(played, 'NodeExpandVolume')).toHaveLength(1);
  });
});

describe('the limit of a node', () => {
  const manifests = driver('nodeAllocatableUpdatePeriodSeconds: 10') + ONE_POD;

  test('is asked for and cannot be written; a pod that does not fit is not rejected before it can be looked up', async () => {
    const played = await passed(
      manifests,
      'create; advance 1m; api stop; advance 10m; assert not running; assert calls NodeGetInfo >=50',
      { scenario: answers('ControllerPublishVolume', 'RESOURCE_EXHAUSTED(full)') },
    );
    expect(played.rehearsal.cluster.api.pods.all()[0]?.phase).toBe('Pending');
    expect(
      saidAt(played, /^Failed to update CSINode: failed to update driver "fake.csi.test": .*Get/),
    ).toBeDefined();
  });

  test('is written when it can be', async () => {
    const scenario = rules(
      '{name: fewer, match: {rpc: NodeGetInfo}, when: {skip: 2}, then: [{respond: {merge: {max_volumes_per_node: 3}}}]}',
    );
    const limitOf = ({ rehearsal }: Played) =>
      rehearsal.cluster.api.nodes.all()[0]?.allocatable.get('fake.csi.test');
    const down = await passed(manifests, 'create; wait running; api stop; advance 2m', { scenario });
    const up = await passed(manifests, 'create; wait running; api stop; advance 2m; api start; advance 10s', {
      scenario,
    });
    expect(limitOf(up)).toBe(3);
    expect(limitOf(down)).not.toBe(3);
  });
});

describe('events', () => {
  test('each is tried for two minutes; one is dropped, those behind it come when somebody is there, with their time', async () => {
    const played = await passed(
      ONE_POD,
      'create; wait state data staged; advance 1s; api stop; advance 3m; assert not event FailedMount; api start; wait event FailedMount within 10s',
      { scenario: answers('NodePublishVolume', '1*delay(5s) -> ok') },
    );
    expect(
      saidAt(
        played,
        /^Unable to write event \(retry limit exceeded!\): Pod default\/web: Warning FailedMount/,
      ),
    ).toBeDefined();
    const [late] = eventsOf(played, 'FailedMount');
    expect(late?.count).toBeGreaterThan(1);
    expect((late?.last ?? 0) - (late?.first ?? 0)).toBeGreaterThan(1_000);
    expect(saidAt(played, /FailedMount: .* \(\d+ times, \+\d+\.\d{3}s to \+\d+\.\d{3}s\)$/)).toBeGreaterThan(
      190_000,
    );
  });

  test('what a kubelet has not delivered ends with it', async () => {
    const steps = (restart: string) =>
      `create; wait state data staged; advance 1s; api stop; advance 30s; ${restart}; advance 10s; api start; advance 11s`;
    const scenario = answers('NodePublishVolume', '1*delay(5s) -> ok');
    const kept = await passed(ONE_POD, steps('advance 1s'), { scenario });
    const lost = await passed(ONE_POD, steps('kubelet restart'), { scenario });
    const during = (played: Played) =>
      eventsOf(played, 'FailedMount').filter(({ first: at }) => at > 11_500 && at < 42_000);
    expect(during(kept).length).toBeGreaterThan(0);
    expect(during(lost)).toEqual([]);
  });
});

describe('tokens of service accounts', () => {
  test('one that lives is used on; one that has ended is an error, as is one that was never fetched', () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    let failure: string | undefined;
    const tokens = new ServiceAccountTokens(clock, new Seeded(1), { failureOf: () => failure });
    const web = {
      meta: { name: 'web', namespace: 'shop', uid: 'uid-1' },
      serviceAccountName: 'reader',
    } as Pod;
    const text = (audience: string) =>
      tokens.textFor({ tokenRequests: [{ audience, expirationSeconds: 600 }] } as never, web);
    const issued = text('vault');
    failure = 'Post "/token": dial tcp: connect: connection refused';
    clock.pass(590_000);
    expect(text('vault')).toBe(issued);
    expect(() => text('other')).toThrow('failed to fetch token: Post "/token"');
    clock.pass(20_000);
    expect(() => text('vault')).toThrow('token "reader"/"shop" expired and refresh failed: Post "/token"');
    failure = undefined;
    expect(text('vault')).not.toBe(issued);
  });
});

describe('controllers and sidecars', () => {
  test('a volume that was made and could not be saved is saved later, without another CreateVolume', async () => {
    const played = await passed(
      ONE_POD,
      'create; advance 1s; api stop; wait calls CreateVolume OK within 10s; advance 1m; assert not state data bound; api start; wait running within 5m',
      { scenario: answers('CreateVolume', '1*delay(5s) -> ok') },
    );
    expect(callsOf(played, 'CreateVolume')).toHaveLength(1);
    expect(
      saidAt(played, /^Failed to save volume pvc-.*: Post "\/api\/v1\/persistentvolumes"/),
    ).toBeDefined();
  });

  test.each([
    ['ControllerPublishVolume', 'create', 'running'],
    ['ControllerUnpublishVolume', 'create; wait running; delete; wait state data not-in-use', 'clean'],
    ['ControllerExpandVolume', `${RUNNING}; expand data 2Gi`, 'calls NodeExpandVolume OK'],
    ['DeleteVolume', 'create; wait running; delete; wait clean; delete pvc/data', 'state data deleted'],
  ])('%s whose outcome could not be written comes again', async (method, before, after) => {
    const played = await passed(
      ONE_POD,
      `${before}; advance 1s; api stop; wait calls ${method} OK within 10s; advance 2m; assert calls ${method} OK =1; assert not ${after.startsWith('calls') ? 'calls NodeExpandVolume' : after}; api start; wait ${after} within 3m`,
      { scenario: answers(method, '1*delay(5s) -> ok') },
    );
    expect(callsOf(played, method).map(({ code }) => code)).toEqual(['OK', 'OK']);
  });

  test('after a long absence each hears of it with its own next try, up to a minute later', async () => {
    const played = await passed(
      ONE_POD,
      'advance 1s; api stop; advance 10m; api start; advance 100ms; create; advance 200ms; assert not event Scheduled; assert calls CreateVolume =0; wait running within 3m',
    );
    const [scheduled] = eventsOf(played, 'Scheduled');
    expect((scheduled?.first ?? 0) - 602_000).toBeLessThan(120_000);
  });

  test('nobody counts the absence: no node becomes not ready by it, and a forced detach begins its six minutes anew', async () => {
    await passed(
      ONE_POD,
      `${RUNNING}; kubelet stop; force-delete web; advance 5s; api stop; advance 20m; api start; advance 6m; assert state data attached; wait state data detached within 2m; assert calls NodeUnstageVolume =0`,
    );
    // One that was heard of a moment before is ready, and given pods, for as long as it may be silent.
    await passed(
      ONE_POD + pod('second'),
      'create fake data web; wait running; kubelet stop; advance 5s; api stop; advance 20m; api start; create second; wait event Scheduled second within 50s',
    );
  });
});
