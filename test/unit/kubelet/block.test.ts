import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import {
  answers,
  callsOf,
  eventsOf,
  type Played,
  play,
  rules,
  STORAGE_CLASS,
  staticVolume,
  work,
} from './harness';

const CLAIM = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {storageClassName: fake, volumeMode: Block, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---`;
const pod = (name: string, container = 'volumeDevices: [{name: disk, devicePath: /dev/xvda}]') => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  securityContext: {fsGroup: 2000}
  containers: [{name: main, ${container}}]
  volumes: [{name: disk, persistentVolumeClaim: {claimName: disk}}]
---`;
const BLOCK = STORAGE_CLASS + CLAIM + pod('db');

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});
function folder(): string {
  const made = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'rehearsal-block-'));
  folders.push(made);
  return made;
}

const VOLUME_DEVICES = 'plugins/kubernetes.io/csi/volumeDevices';
function names({ rehearsal }: Played) {
  const { api } = rehearsal.cluster;
  const [pv] = api.volumes.all();
  return { pv: pv?.meta.name ?? '', handle: pv?.volumeHandle ?? '', uid: api.pods.all()[0]?.meta.uid ?? '' };
}

test('two questions and a stage, one question and a publish; and back, the kubelet’s own part first', async () => {
  const played = await play(BLOCK, 'create; wait running; delete; wait clean');
  expect(played.outcome).toMatchObject({ passed: true, standings: [] });
  expect(played.kubeletCalls).toEqual([
    'NodeGetCapabilities OK',
    'NodeGetCapabilities OK',
    'NodeStageVolume OK',
    'NodeGetCapabilities OK',
    'NodePublishVolume OK',
    'NodeUnpublishVolume OK',
    'NodeGetCapabilities OK',
    'NodeUnstageVolume OK',
  ]);
  const texts = played.timeline.entries.map(({ text }) => text);
  const unbound = texts.findIndex((text) => text.startsWith('removed the loop device'));
  expect(unbound).toBeGreaterThan(0);
  expect(unbound).toBeLessThan(texts.indexOf('NodeUnpublishVolume'));
});

test('is asked for by its own paths, as a block device without group or flags', async () => {
  const played = await play(BLOCK, 'create; wait running');
  const { pv, uid, handle } = names(played);
  const staging_target_path = `/var/lib/kubelet/${VOLUME_DEVICES}/staging/${pv}`;
  const block = { volume_id: handle, staging_target_path, volume_capability: { block: {} } };
  const [stage] = callsOf(played, 'NodeStageVolume');
  expect(stage?.request).toMatchObject(block);
  expect(stage?.request).not.toHaveProperty('volume_capability.mount');
  expect(callsOf(played, 'NodePublishVolume')[0]?.request).toMatchObject({
    ...block,
    target_path: `/var/lib/kubelet/${VOLUME_DEVICES}/publish/${pv}/${uid}`,
  });
  for (const method of ['CreateVolume', 'ControllerPublishVolume'])
    expect(JSON.stringify(callsOf(played, method)[0]?.request)).toContain('"block":{}');
  expect(eventsOf(played, 'SuccessfulMountVolume').map(({ message }) => message)).toEqual([
    `MapVolume.MapPodDevice succeeded for volume "${pv}" globalMapPath "/var/lib/kubelet/${VOLUME_DEVICES}/${pv}/dev"`,
    `MapVolume.MapPodDevice succeeded for volume "${pv}" volumeMapPath "/var/lib/kubelet/pods/${uid}/volumeDevices/kubernetes.io~csi"`,
  ]);
});

test('leaves on the disk a link, a map and a vol_data.json without a lifecycle, and takes all of it away', async () => {
  const rootDir = folder();
  const played = await play(BLOCK, 'create; wait running', { rootDir });
  const { pv, uid, handle } = names(played);
  const data = fs.readFileSync(path.join(rootDir, VOLUME_DEVICES, pv, 'data/vol_data.json'), 'utf8');
  expect(data).toMatch(
    new RegExp(
      `^{"attachmentID":"csi-[0-9a-f]{64}","driverName":"fake.csi.test","nodeName":"node-1","specVolID":"${pv}","volumeHandle":"${handle}"}\n$`,
    ),
  );
  expect(fs.readdirSync(path.join(rootDir, VOLUME_DEVICES, pv, 'dev'))).toEqual([uid]);
  expect(fs.readlinkSync(path.join(rootDir, 'pods', uid, 'volumeDevices/kubernetes.io~csi', pv))).toBe(
    path.join(rootDir, VOLUME_DEVICES, 'publish', pv, uid),
  );
  const emptied = folder();
  await play(BLOCK, 'create; wait running; delete; wait clean; advance 5s', { rootDir: emptied });
  expect(fs.readdirSync(path.join(emptied, 'pods'))).toEqual([]);
  expect(fs.readdirSync(path.join(emptied, VOLUME_DEVICES)).sort()).toEqual(['publish', 'staging']);
});

test('without STAGE_UNSTAGE_VOLUME it is published with a staging path all the same', async () => {
  const played = await play(BLOCK, 'create; wait calls NodePublishVolume', {
    capabilities: '-node.STAGE_UNSTAGE_VOLUME',
  });
  expect(callsOf(played, 'NodeStageVolume')).toEqual([]);
  expect(callsOf(played, 'NodePublishVolume')[0]?.request).toHaveProperty('staging_target_path');
});

test('a restart of the kubelet and one of the node bring both calls again; nothing is bound twice', async () => {
  const played = await play(
    BLOCK,
    'create; wait running; kubelet restart; assert state disk stage-uncertain; wait state disk mounted; node reboot; wait running; delete; wait clean',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(work(played).slice(-2)).toEqual(['NodeUnpublishVolume OK', 'NodeUnstageVolume OK']);
  expect(callsOf(played, 'NodeStageVolume').filter(({ code }) => code === 'OK')).toHaveLength(3);
});

test('a pod that was deleted while the kubelet was away is mapped again as long as its containers end, and unmapped', async () => {
  const played = await play(BLOCK, 'create; wait running; kubelet stop; delete; kubelet start; wait clean');
  expect(played.outcome.failure).toBeUndefined();
  expect(work(played)).toEqual([
    'NodeStageVolume OK',
    'NodePublishVolume OK',
    'NodeStageVolume OK',
    'NodePublishVolume OK',
    'NodeUnpublishVolume OK',
    'NodeUnstageVolume OK',
  ]);
});

describe('failures', () => {
  test('of the stage are FailedMapVolume, final or not as those of a filesystem', async () => {
    const final = await play(BLOCK, 'create; wait event FailedMapVolume; delete; wait clean', {
      scenario: answers('NodeStageVolume', 'INTERNAL(broken)'),
    });
    expect(final.outcome.failure).toBeUndefined();
    expect(eventsOf(final, 'FailedMapVolume')[0]?.message).toMatch(
      /^MapVolume\.SetUpDevice failed for volume "pvc-.*" : rpc error: code = Internal desc = .*broken$/,
    );
    expect(callsOf(final, 'NodeUnstageVolume')).toEqual([]);
    const open = await play(BLOCK, 'create; wait state disk stage-uncertain; delete; wait clean', {
      scenario: answers('NodeStageVolume', 'UNAVAILABLE(later)'),
    });
    expect(open.outcome.failure).toBeUndefined();
    expect(work(open).at(-1)).toBe('NodeUnstageVolume OK');
  });

  test('of the publish', async () => {
    const played = await play(BLOCK, 'create; wait state disk mount-uncertain; delete; wait clean', {
      scenario: answers('NodePublishVolume', 'ABORTED(later)'),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedMapVolume')[0]?.message).toMatch(
      /^MapVolume\.MapPodDevice failed for volume/,
    );
    expect(callsOf(played, 'NodeUnpublishVolume')).toHaveLength(1);
  });

  test('M17: OK and nothing at the path', async () => {
    const played = await play(
      BLOCK,
      'create; wait event FailedMapVolume; assert state disk mount-uncertain',
      {
        scenario: rules('{name: lie, match: {rpc: NodePublishVolume}, then: [{at: instead}]}'),
      },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedMapVolume')[0]?.message).toMatch(
      /^MapVolume\.EvalHostSymlinks failed for volume "pvc-.*" : lstat .* no such file or directory$/,
    );
  });

  test('of the teardown make no event; the map is gone before NodeUnpublishVolume is answered', async () => {
    const played = await play(BLOCK, 'create; wait running; delete; advance 10s; assert not gone', {
      scenario: answers('NodeUnpublishVolume', 'INTERNAL(busy)'),
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(played.events.filter(({ type }) => type === 'Warning')).toEqual([]);
    expect(played.outcome.standings[0]?.why[0]).toMatch(/UnmapVolume\.UnmapPodDevice failed/);
  });

  test('K5: vol_data.json is damaged: nothing is sent any more', async () => {
    const played = await play(
      BLOCK,
      'create; wait running; vol-data empty db; delete; advance 1m; assert not gone',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeUnpublishVolume')).toEqual([]);
    expect(played.outcome.standings[0]?.why[0]).toMatch(/unmapper failed to load volume data file/);
  });
});

test('a secret that is not there is final for a kubelet 1.32 and open for 1.36', async () => {
  const manifests =
    staticVolume({ spec: 'volumeMode: Block', csi: ', nodeStageSecretRef: {name: key}', claim: CLAIM }) +
    pod('db');
  const why = async (version: '1.32' | '1.36') =>
    (await play(manifests, 'create; wait event FailedMapVolume', { version })).outcome.standings[0]?.why[0];
  expect(await why('1.32')).toMatch(/final: the kubelet forgets the stage/);
  expect(await why('1.36')).toMatch(/transient: what was known before stays/);
});

test('a mode that is not the container’s is told by the populator', async () => {
  const played = await play(
    STORAGE_CLASS + CLAIM + pod('db', 'volumeMounts: [{name: disk, mountPath: /d}]'),
    'create; wait event FailedMount',
  );
  expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
    /volume disk has volumeMode Block, but is specified in volumeMounts$/,
  );
});

test('statistics and expansion name the device', async () => {
  const played = await play(
    BLOCK,
    'create; wait running; expand disk 2Gi; wait calls NodeExpandVolume; wait calls NodeGetVolumeStats',
  );
  expect(played.outcome.failure).toBeUndefined();
  const { pv, uid } = names(played);
  expect(callsOf(played, 'NodeGetVolumeStats')[0]?.request).toMatchObject({
    volume_path: `/var/lib/kubelet/${VOLUME_DEVICES}/${pv}/dev/${uid}`,
  });
  expect(callsOf(played, 'NodeExpandVolume')[0]?.request).toMatchObject({
    volume_path: `/var/lib/kubelet/${VOLUME_DEVICES}/publish/${pv}/${uid}`,
    volume_capability: { block: {} },
  });
});
