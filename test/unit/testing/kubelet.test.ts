import * as fs from 'node:fs';
import os from 'node:os';
import * as path from 'node:path';
import {
  ManifestProblems,
  ScenarioProblems,
  startFakeCsi,
  startKubelet,
  type TestKubelet,
} from '../../../src';

const EXAMPLE = path.join(__dirname, '../../../examples/pod.yaml');

/** Without an attach nothing waits for the status of the node, which comes each ten seconds. */
const NO_ATTACH = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'fake.csi.test' },
    spec: { attachRequired: false },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fake' },
    provisioner: 'fake.csi.test',
  },
  `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fake, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`,
];

const live: TestKubelet[] = [];
afterEach(async () => {
  for (const kubelet of live.splice(0)) await kubelet.stop();
});
async function started(options: Partial<Parameters<typeof startKubelet>[0]> = {}): Promise<TestKubelet> {
  const kubelet = await startKubelet({ manifests: EXAMPLE, ...options });
  live.push(kubelet);
  return kubelet;
}

test('a pod comes, runs and goes, and the calls and events are there to be asked', async () => {
  await using kubelet = await startKubelet({ manifests: EXAMPLE });
  await kubelet.create();
  await kubelet.wait('running web');
  await kubelet.assert('state data mounted');
  expect(kubelet.calls({ method: 'NodeStageVolume', code: 'OK' })).toHaveLength(1);
  expect(kubelet.calls({ who: 'external-attacher', method: 'ControllerPublishVolume' })).toHaveLength(1);
  expect(kubelet.standing()).toMatchObject([{ what: 'pod default/web', state: 'Running' }]);
  await kubelet.delete('web');
  await kubelet.wait('clean', { within: '2m' });
  expect(kubelet.standing()).toEqual([]);
  expect(kubelet.events({ object: 'web', reason: 'Scheduled' })).toHaveLength(1);
});

test('a rule is armed in the middle; what follows from a final error is as docs/volume-manager.md tells', async () => {
  const kubelet = await started();
  await kubelet.rule('NodeStageVolume: 3*INTERNAL(broken) -> ok');
  await kubelet.create();
  await kubelet.wait('event FailedMount web');
  expect(kubelet.events({ reason: 'FailedMount' })[0]?.message).toMatch(
    /^MountVolume\.MountDevice failed .*broken$/,
  );
  await kubelet.wait('running', { within: 60_000 });
  expect(kubelet.calls({ method: 'NodeStageVolume' }).map(({ code }) => code)).toEqual([
    'INTERNAL',
    'INTERNAL',
    'INTERNAL',
    'OK',
  ]);
});

test('restarts: of the kubelet, of the driver, of the node', async () => {
  const kubelet = await started();
  await kubelet.create();
  await kubelet.wait('running');
  await kubelet.kubelet('restart');
  await kubelet.wait('calls NodeStageVolume OK =2');
  await kubelet.driver('restart');
  await kubelet.advance('1m');
  expect(kubelet.calls('NodeStageVolume')).toHaveLength(2);
  await kubelet.node('reboot');
  await kubelet.wait('running');
  expect(kubelet.calls('NodeStageVolume')).toHaveLength(3);
  await kubelet.plugin('unregister');
  await kubelet.delete();
  await kubelet.advance('30s');
  await kubelet.assert('not gone');
  await kubelet.plugin('register');
  await kubelet.wait('clean');
});

test('grows a claim, and cuts its record off', async () => {
  const kubelet = await started();
  await kubelet.create();
  await kubelet.wait('running');
  await kubelet.expand('data', '3Gi');
  await kubelet.wait('event FileSystemResizeSuccessful');
  await kubelet.volData('corrupt', 'web');
  await kubelet.delete();
  await expect(kubelet.wait('gone', { within: '1m' })).rejects.toThrow(
    /did not come true within 60 s\n {2}pod default\/web: Terminating\n {4}.*unmounter failed to load volume data file/,
  );
});

test('hours pass in a moment', async () => {
  const kubelet = await started();
  await kubelet.create();
  await kubelet.wait('running');
  await kubelet.advance('3h');
  expect(kubelet.elapsed).toBeGreaterThan(3 * 3_600_000);
  expect(kubelet.calls('NodeGetVolumeStats').length).toBeGreaterThan(90);
});

test('a kubelet that is configured to be quicker is', async () => {
  const kubelet = await started({
    configuration: { nodeStatusUpdateFrequency: '1s', syncFrequency: '10s', volumeStatsAggPeriod: 10_000 },
  });
  await kubelet.create();
  await kubelet.wait('running', { within: '5s' });
  await kubelet.expand('data', '2Gi');
  await kubelet.wait('calls NodeExpandVolume OK', { within: '16s' });
  await kubelet.wait('calls NodeGetVolumeStats', { within: '21s' });
  await expect(startKubelet({ manifests: EXAMPLE, configuration: { syncFrequency: 0 } })).rejects.toThrow(
    /configuration\.syncFrequency: expected at least 1 ms, found 0/,
  );
});

test('the same seed tells the same, another one another', async () => {
  const told = async (seed: number) => {
    const kubelet = await started({ seed });
    await kubelet.run('create; wait running; kubelet restart; advance 5m; delete; wait clean');
    return kubelet.timeline();
  };
  const [one, again, other] = [await told(1), await told(1), await told(2)];
  expect(again).toBe(one);
  expect(other).not.toBe(one);
});

test('options are those of the driver; scenarios are armed before the first call', async () => {
  const kubelet = await started({
    kubelet: '1.32',
    driver: {
      driverName: 'fake.csi.test',
      capabilities: ['-node.STAGE_UNSTAGE_VOLUME'],
      scenario: {
        apiVersion: 'fake-csi/v1',
        kind: 'Scenario',
        metadata: { name: 'late' },
        spec: { rules: [{ name: 'late', match: { rpc: 'CreateVolume' }, sequence: '1*UNAVAILABLE -> ok' }] },
      },
    },
  });
  await kubelet.create();
  await kubelet.wait('running');
  expect(kubelet.calls('CreateVolume').map(({ code }) => code)).toEqual(['UNAVAILABLE', 'OK']);
  expect(kubelet.calls('NodeStageVolume')).toEqual([]);
  // A kubelet 1.32 writes it all the same.
  const [key = ''] = fs.readdirSync(path.join(kubelet.rootDir, 'plugins/kubernetes.io/csi/fake.csi.test'));
  expect(
    fs.existsSync(
      path.join(kubelet.rootDir, 'plugins/kubernetes.io/csi/fake.csi.test', key, 'vol_data.json'),
    ),
  ).toBe(true);
});

test('over the socket of a driver of startFakeCsi, in real time', async () => {
  await using csi = await startFakeCsi({
    capabilities: '-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES',
  });
  await using slow = await csi.rule('NodePublishVolume: 1*UNAVAILABLE(busy) -> ok');
  const kubelet = await started({ driver: csi, manifests: NO_ATTACH, realTime: true });
  await kubelet.create();
  await kubelet.wait('running', { within: '30s' });
  expect(slow.fired).toBeGreaterThanOrEqual(1);
  expect(kubelet.calls('NodePublishVolume').map(({ code }) => code)).toEqual(['UNAVAILABLE', 'OK']);
  await csi.expect({ rpc: 'NodePublishVolume', code: 'OK' }).exactly(1);
  await kubelet.delete('web');
  await kubelet.wait('gone', { within: '30s' });
  await csi.expect({ rpc: 'NodeUnstageVolume', code: 'OK' }).atLeast(1).within('30s');
  await expect(kubelet.driver('kill')).rejects.toThrow(/not possible with --endpoint/);
  await expect(kubelet.rule('Probe: ok')).rejects.toThrow(/arm the rule where the driver was started/);
}, 120_000);

describe('what is wrong is told', () => {
  test.each([
    [
      'manifests',
      { manifests: '/nonexistent.yaml' },
      /manifests: expected YAML text .* found "\/nonexistent\.yaml" \(ENOENT\)/,
    ],
    ['an object', { manifests: { kind: 'Deployment' } }, /kind: a rehearsal knows .* found "Deployment"/],
    ['kubelet', { kubelet: '1.10' as '1.32' }, /kubelet: expected 1\.32 or 1\.36, found 1\.10/],
    ['seed', { seed: 0.5 }, /seed: expected a whole number, found 0.5/],
    ['realTime', { realTime: true }, /realTime: expected false or nothing, found true/],
    ['rootDir', { rootDir: __dirname }, /expected an empty folder, found files/],
    ['scenario', { driver: { scenario: 'rules:\n  - nothing\n' } }, /apiVersion/],
  ])('%s', async (_, options, text) => {
    await expect(startKubelet({ manifests: EXAMPLE, ...options })).rejects.toThrow(text);
  });

  test('with its class, to be caught', async () => {
    await expect(startKubelet({ manifests: 'kind: Pod\nmetadata: {}\n' })).rejects.toBeInstanceOf(
      ManifestProblems,
    );
    const kubelet = await started();
    await expect(kubelet.rule('NodeStag: ok')).rejects.toBeInstanceOf(ScenarioProblems);
    await expect(kubelet.create('nobody')).rejects.toThrow(/expected a name of the manifests/);
    await expect(kubelet.create('a; b')).rejects.toThrow(TypeError);
    await expect(kubelet.run('dance')).rejects.toThrow(/expected one of create/);
  });

  test('steps after stop() are refused; stop() may come twice', async () => {
    const kubelet = await started();
    await Promise.all([kubelet.stop(), kubelet.stop()]);
    await expect(kubelet.create()).rejects.toThrow(/has been stopped/);
  });
});

test('steps that are not awaited go one after another; nothing is left behind', async () => {
  // A folder for temporary files that no other test uses.
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'fcsi-own-'));
  const tmpdir = jest.spyOn(os, 'tmpdir').mockReturnValue(temporary);
  const made: string[] = [];
  const watcher = fs.watch(temporary, (_event, name) => made.push(`${name}`));
  try {
    const kubelet = await startKubelet({ manifests: EXAMPLE });
    await Promise.all([kubelet.create(), kubelet.wait('running'), kubelet.delete(), kubelet.wait('clean')]);
    expect(kubelet.calls('NodeUnstageVolume')).toHaveLength(1);
    await kubelet.stop();
    expect(made).not.toEqual([]);
    expect(fs.readdirSync(temporary)).toEqual([]);
  } finally {
    watcher.close();
    tmpdir.mockRestore();
    fs.rmSync(temporary, { recursive: true });
  }
});
