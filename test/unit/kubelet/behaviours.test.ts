import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as constants from '../../../src/kubelet/constants';
import {
  answers,
  CLAIM,
  callsOf,
  eventsOf,
  ONE_POD,
  play,
  pod,
  rules,
  STORAGE_CLASS,
  withRehearsal,
} from './harness';
import { failuresOf } from './registering';

const logged = (played: Awaited<ReturnType<typeof play>>, text: RegExp) =>
  played.timeline.entries.some((entry) => entry.kind === 'log' && text.test(entry.text));

describe('provisioning', () => {
  test('a failure is an event of the claim, and is tried again after 1, 2 seconds', async () => {
    const scenario = answers('CreateVolume', '2*UNAVAILABLE(later) -> ok');
    const played = await play(ONE_POD, 'create; wait running', { scenario });
    expect(played.outcome.failure).toBeUndefined();
    const [first = 0, ...again] = callsOf(played, 'CreateVolume').map(({ at }) => at);
    expect(again.map((at) => at - first)).toEqual([1_000, 3_000]);
    expect(eventsOf(played, 'ProvisioningFailed')[0]).toMatchObject({
      object: 'PersistentVolumeClaim default/data',
      message: expect.stringMatching(
        /^failed to provision volume with StorageClass "fake": rpc error: code = Unavailable desc = .*later$/,
      ),
    });
  });

  test('a claim that is deleted is kept for its pod; then its volume is deleted, once it is detached', async () => {
    const played = await play(
      ONE_POD,
      'create; wait running; delete pvc/data; advance 5s; assert not state data deleted; delete web; wait state data deleted',
    );
    expect(played.outcome.failure).toBeUndefined();
    const order = played.calls
      .map(({ method }) => method)
      .filter((method) => /ControllerUnpublish|DeleteVolume/.test(method));
    expect(order).toEqual(['ControllerUnpublishVolume', 'DeleteVolume']);
  });
});

describe('fsGroup', () => {
  const manifests = STORAGE_CLASS + CLAIM + pod('web', 'securityContext: {fsGroup: 2000}');
  const capabilities = '-node.VOLUME_MOUNT_GROUP';

  test('is applied by the kubelet where the driver does not: setgid and group bits on the target', async () => {
    const rootDir = fs.mkdtempSync(path.join(tmpdir(), 'rehearsal-root-'));
    try {
      const played = await play(manifests, 'create; wait running', { capabilities, rootDir });
      const [call] = callsOf(played, 'NodePublishVolume');
      const { target_path: target = '' } = (call?.request ?? {}) as { target_path?: string };
      const { mode } = fs.lstatSync(target.replace('/var/lib/kubelet', rootDir));
      expect(mode & 0o2770).toBe(0o2770);
    } finally {
      fs.rmSync(rootDir, { recursive: true, force: true });
    }
  });

  test('where there is no target, it fails, and the mount is uncertain', async () => {
    const scenario = rules('{name: lie, match: {rpc: NodePublishVolume}, then: [{at: instead}]}');
    const played = await play(manifests, 'create; wait state data mount-uncertain', {
      capabilities,
      scenario,
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
      /^MountVolume\.SetUp failed for volume "pvc-.*" : applyFSGroup failed for vol vol-.*: .*lstat/,
    );
  });
});

test('one claim under two names in a pod: 1.36 mounts it once, 1.32 waits for the second name for ever, and says nothing', async () => {
  const manifests =
    STORAGE_CLASS +
    CLAIM +
    pod('web')
      .replace('volumes: [', 'volumes: [{name: again, persistentVolumeClaim: {claimName: data}}, ')
      .replace('volumeMounts: [', 'volumeMounts: [{name: again, mountPath: /again}, ');
  const newer = await play(manifests, 'create; wait running; delete; wait clean');
  expect(newer.outcome.failure).toBeUndefined();
  expect(callsOf(newer, 'NodePublishVolume')).toHaveLength(1);
  const older = await play(manifests, 'create; wait state data mounted; advance 10m; assert not running', {
    version: '1.32',
  });
  expect(older.outcome.failure).toBeUndefined();
  expect(older.events.filter(({ type }) => type === 'Warning')).toEqual([]);
});

test('a second pod with a ReadWriteOncePod volume is refused by the kubelet', async () => {
  const manifests = ONE_POD.replace('ReadWriteOnce', 'ReadWriteOncePod') + pod('second');
  const played = await play(
    manifests,
    'create; wait running web; wait event FailedMount second; assert not running second',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
    /volume uses the ReadWriteOncePod access mode and is already in use by another pod$/,
  );
});

describe('errors of NodeExpandVolume', () => {
  const steps = 'create; wait running; expand data 2Gi; wait calls NodeExpandVolume; advance 10m';
  const claimOf = (played: Awaited<ReturnType<typeof play>>) =>
    played.rehearsal.cluster.api.claims.get('default/data');

  test('FAILED_PRECONDITION: never asked again', async () => {
    const played = await play(ONE_POD, steps, {
      scenario: answers('NodeExpandVolume', 'FAILED_PRECONDITION(in use)'),
    });
    expect(callsOf(played, 'NodeExpandVolume')).toHaveLength(1);
    expect(eventsOf(played, 'VolumeResizeFailed')).toEqual([]);
  });

  test('OUT_OF_RANGE: infeasible, and not asked again', async () => {
    const played = await play(ONE_POD, steps, {
      scenario: answers('NodeExpandVolume', 'OUT_OF_RANGE(too much)'),
    });
    expect(callsOf(played, 'NodeExpandVolume')).toHaveLength(1);
    expect(claimOf(played)?.resizeStatus).toBe('NodeResizeInfeasible');
  });

  test('INTERNAL: tried again with the backoff of operations, until it works', async () => {
    const scenario = answers('NodeExpandVolume', '3*INTERNAL(no) -> ok');
    const played = await play(ONE_POD, steps, { scenario });
    const at = callsOf(played, 'NodeExpandVolume').map((call) => call.at);
    expect(at.slice(1).map((moment, index) => moment - (at[index] ?? 0))).toEqual([600, 1_100, 2_100]);
    expect(claimOf(played)?.resizeStatus).toBeUndefined();
  });
});

test('an orphan is looked at each two seconds, and goes soon after what kept it is removed by hand', async () => {
  const steps = 'create; wait running; node down; vol-data empty web; force-delete web; node up; advance 1m';
  await withRehearsal(ONE_POD, {}, async ({ run, places, logged: said }) => {
    await run('create; wait running');
    const folder = path.dirname(places().target);
    await run(steps.split('; ').slice(2).join('; '));
    expect(said(/^orphaned pod ".*" found, but error occurred/)).toBe(true);
    fs.rmSync(path.join(folder, 'vol_data.json'));
    await run('advance 4s');
    expect(fs.existsSync(folder)).toBe(false);
  });
  const played = await play(ONE_POD, steps);
  const orphaned = played.timeline.entries.find(({ text }) => text.startsWith('orphaned pod'));
  expect(orphaned?.times).toBeGreaterThanOrEqual(25);
});

test('a vol_data.json that is left without a mount keeps the pod folder for ever', async () => {
  const played = await play(
    ONE_POD,
    'create; wait running; node down; vol-data empty web; force-delete web; node up; advance 10s',
  );
  expect(
    logged(
      played,
      /^orphaned pod ".*" found, but error occurred when trying to remove the volumes dir: not a directory$/,
    ),
  ).toBe(true);
});

test('a final error of a repeated publish leaves the pod its mount, and unmounts it later', async () => {
  const manifests = `apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {requiresRepublish: true}
---${ONE_POD}`;
  const scenario = rules(
    "{name: later, match: {rpc: NodePublishVolume}, when: {skip: 1}, sequence: 'INTERNAL(no)'}",
  );
  const played = await play(
    manifests,
    'create; wait running; wait calls NodePublishVolume INTERNAL; assert state data mounted; delete; wait clean',
    { scenario },
  );
  expect(played.outcome.failure).toBeUndefined();
});

test('a claim that is not bound is told in an event of the kubelet when the pod has a node already', async () => {
  const manifests = CLAIM.replace('fake', 'nobody') + pod('web', 'nodeName: node-1');
  const played = await play(manifests, 'create; wait event FailedMount');
  expect(eventsOf(played, 'FailedMount')[0]?.message).toBe(
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: PVC is not bound',
  );
});

test('topology labels of a node are never overwritten', async () => {
  const scenario = rules(
    '{name: moved, match: {rpc: NodeGetInfo}, when: {skip: 1}, then: [{respond: {merge: {accessible_topology: {segments: {topology.fake.csi.test/zone: other}}}}}]}',
  );
  const played = await play(ONE_POD, 'create; wait running; kubelet restart; advance 10s', { scenario });
  expect(failuresOf(played)[0]?.error).toMatch(
    /^RegisterPlugin error -- plugin registration failed with err: error adding CSI driver node info: detected topology value collision: driver reported "topology\.fake\.csi\.test\/zone":"other" but existing label is/,
  );
});

test('constants are those of the kubelet', () => {
  expect(constants).toMatchObject({
    RECONCILER_LOOP_MS: 100,
    POD_ATTACH_AND_MOUNT_RETRY_MS: 300,
    POD_ATTACH_AND_MOUNT_TIMEOUT_MS: 123_000,
    CSI_TIMEOUT_MS: 120_000,
    INITIAL_BACKOFF_MS: 500,
    MAX_BACKOFF_MS: 122_000,
    NODE_STATUS_UPDATE_MS: 10_000,
    HOUSEKEEPING_MS: 2_000,
    MAX_WAIT_FOR_UNMOUNT_MS: 360_000,
    VOLUME_ATTACHMENT_WAIT_MS: 120_000,
  });
});
