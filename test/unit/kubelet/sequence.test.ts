import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { CLAIM, callsOf, eventsOf, ONE_POD, play, pod, STORAGE_CLASS, staticVolume, work } from './harness';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const capabilities = (count: number) => Array.from({ length: count }, () => 'NodeGetCapabilities OK');

const driver = (spec: string) => `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {${spec}}
---`;

describe('a filesystem that is staged', () => {
  test('is mounted with three questions before each of the two calls, and unmounted with one', async () => {
    const played = await play(ONE_POD, 'create; wait running; delete; wait clean');
    expect(played.outcome).toMatchObject({ passed: true, standings: [] });
    expect(played.kubeletCalls).toEqual([
      ...capabilities(3),
      'NodeStageVolume OK',
      ...capabilities(3),
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      ...capabilities(1),
      'NodeUnstageVolume OK',
    ]);
    const controller = played.calls
      .filter(({ who }) => who.startsWith('external'))
      .map(({ method }) => method);
    expect(controller).toEqual([
      'CreateVolume',
      'ControllerGetCapabilities',
      'ControllerPublishVolume',
      'ControllerUnpublishVolume',
    ]);
  });

  test('waits for the status of the node: nothing is mounted before volumesInUse is posted', async () => {
    const played = await play(ONE_POD, 'create; wait running');
    const at = (text: RegExp) =>
      played.timeline.entries.find((entry) => text.test(entry.text))?.at ?? Number.NaN;
    const inUse = at(/^node\.status\.volumesInUse: \[kubernetes/);
    expect(inUse).toBeGreaterThan(9_000);
    expect(inUse).toBeLessThan(10_500);
    expect(callsOf(played, 'ControllerPublishVolume')[0]?.at).toBeLessThan(2_000);
    expect(callsOf(played, 'NodeStageVolume')[0]?.at).toBeGreaterThan(inUse);
  });

  test('is asked for by exact paths, with the publish context, the mode and what the claim was made of', async () => {
    const played = await play(ONE_POD, 'create; wait running');
    const { api } = played.rehearsal.cluster;
    const [pv] = api.volumes.all();
    const [web] = api.pods.all();
    const [attachment] = api.attachments.all();
    const handle = pv?.volumeHandle ?? '';
    const staging = `/var/lib/kubelet/plugins/kubernetes.io/csi/fake.csi.test/${sha256(handle)}/globalmount`;
    expect(callsOf(played, 'NodeStageVolume')[0]?.request).toMatchObject({
      volume_id: handle,
      staging_target_path: staging,
      publish_context: attachment?.attachmentMetadata,
      volume_capability: { mount: { fs_type: 'ext4' }, access_mode: { mode: 'SINGLE_NODE_MULTI_WRITER' } },
      volume_context: {
        'storage.kubernetes.io/csiProvisionerIdentity': expect.stringMatching(/^\d+-\d+-fake\.csi\.test$/),
      },
    });
    expect(callsOf(played, 'NodePublishVolume')[0]?.request).toMatchObject({
      staging_target_path: staging,
      target_path: `/var/lib/kubelet/pods/${web?.meta.uid}/volumes/kubernetes.io~csi/${pv?.meta.name}/mount`,
    });
    expect(callsOf(played, 'CreateVolume')[0]?.request).toMatchObject({
      name: pv?.meta.name,
      parameters: {
        'csi.storage.k8s.io/pvc/name': 'data',
        'csi.storage.k8s.io/pvc/namespace': 'default',
        'csi.storage.k8s.io/pv/name': pv?.meta.name,
      },
    });
  });

  test('leaves on the disk what a kubelet leaves, byte for byte, and takes it away again', async () => {
    const rootDir = fs.mkdtempSync(path.join(tmpdir(), 'rehearsal-root-'));
    try {
      const played = await play(ONE_POD, 'create; wait running', { rootDir });
      const { api } = played.rehearsal.cluster;
      const [pv] = api.volumes.all();
      const [web] = api.pods.all();
      const handle = pv?.volumeHandle ?? '';
      const attachment = `csi-${sha256(`${handle}fake.csi.testnode-1`)}`;
      const own = `pods/${web?.meta.uid}/volumes/kubernetes.io~csi/${pv?.meta.name}`;
      const global = `plugins/kubernetes.io/csi/fake.csi.test/${sha256(handle)}`;
      expect(fs.readFileSync(path.join(rootDir, own, 'vol_data.json'), 'utf8')).toBe(
        `{"attachmentID":"${attachment}","driverName":"fake.csi.test","nodeName":"node-1","specVolID":"${pv?.meta.name}","volumeHandle":"${handle}","volumeLifecycleMode":"Persistent"}\n`,
      );
      expect(fs.readFileSync(path.join(rootDir, global, 'vol_data.json'), 'utf8')).toBe(
        `{"driverName":"fake.csi.test","volumeHandle":"${handle}"}\n`,
      );
      const modeOf = (name: string) => (fs.statSync(path.join(rootDir, name)).mode & 0o7777).toString(8);
      expect([own, 'pods', global, 'plugins', `${global}/globalmount`].map(modeOf)).toEqual(
        Array(5).fill('750'),
      );
      expect([`${own}/vol_data.json`, `${global}/vol_data.json`].map(modeOf)).toEqual(['644', '644']);
      expect(fs.readdirSync(path.join(rootDir, own)).sort()).toEqual(['mount', 'vol_data.json']);
      expect(fs.readdirSync(path.join(rootDir, global)).sort()).toEqual(['globalmount', 'vol_data.json']);
    } finally {
      fs.rmSync(rootDir, { recursive: true, force: true });
    }
    const emptied = fs.mkdtempSync(path.join(tmpdir(), 'rehearsal-root-'));
    try {
      await play(ONE_POD, 'create; wait running; delete; wait clean; advance 5s', { rootDir: emptied });
      expect(fs.readdirSync(path.join(emptied, 'pods'))).toEqual([]);
      expect(fs.readdirSync(path.join(emptied, 'plugins/kubernetes.io/csi/fake.csi.test'))).toEqual([]);
    } finally {
      fs.rmSync(emptied, { recursive: true, force: true });
    }
  });

  test('is published, not staged again, for a second pod on the node', async () => {
    const played = await play(
      ONE_POD + pod('second'),
      'create; wait running; delete web; wait gone web; advance 30s',
    );
    expect(work(played)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
    ]);
  });
});

describe('variants', () => {
  const withoutStaging = { capabilities: '-node.STAGE_UNSTAGE_VOLUME' };

  test('without STAGE_UNSTAGE_VOLUME there is one question, no staging path, and no call for the device', async () => {
    const played = await play(ONE_POD, 'create; wait running; delete; wait clean', withoutStaging);
    expect(played.kubeletCalls).toEqual([
      ...capabilities(1),
      ...capabilities(3),
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
    ]);
    expect(callsOf(played, 'NodePublishVolume')[0]?.request).not.toHaveProperty('staging_target_path');
  });

  test('without STAGE_UNSTAGE_VOLUME an empty globalmount is left behind by 1.36, and not by 1.32', async () => {
    for (const [version, left] of [
      ['1.36', ['globalmount']],
      ['1.32', undefined],
    ] as const) {
      const rootDir = fs.mkdtempSync(path.join(tmpdir(), 'rehearsal-root-'));
      try {
        const steps = 'create; wait running; delete; wait clean';
        const capabilities = '-node.STAGE_UNSTAGE_VOLUME';
        await play(ONE_POD, steps, { version, capabilities, rootDir });
        const plugin = path.join(rootDir, 'plugins/kubernetes.io/csi/fake.csi.test');
        const [volume] = fs.readdirSync(plugin);
        expect(volume && fs.readdirSync(path.join(plugin, volume))).toEqual(left);
      } finally {
        fs.rmSync(rootDir, { recursive: true, force: true });
      }
    }
  });

  test('a kubelet 1.32 writes the global file all the same, and asks once more at the end', async () => {
    const played = await play(ONE_POD, 'create; wait running; delete; wait clean', {
      ...withoutStaging,
      version: '1.32',
    });
    expect(played.kubeletCalls.slice(-2)).toEqual(['NodeUnpublishVolume OK', 'NodeGetCapabilities OK']);
  });

  test('attachRequired: false: no VolumeAttachment, no volumesInUse, no ten seconds', async () => {
    const manifests = driver('attachRequired: false') + staticVolume() + pod('web');
    const played = await play(manifests, 'create; wait running within 3s; delete; wait clean');
    expect(played.outcome.passed).toBe(true);
    expect(callsOf(played, 'ControllerPublishVolume')).toEqual([]);
    expect(callsOf(played, 'NodeStageVolume')[0]?.request).not.toHaveProperty('publish_context.attachment');
    expect(played.timeline.entries.some(({ text }) => text.includes('volumesInUse'))).toBe(false);
  });

  test('attachRequired: false: our own driver runs as it is deployed then, unless its capabilities are given', async () => {
    const manifests = driver('attachRequired: false') + ONE_POD;
    const played = await play(manifests, 'create; wait running within 5s; delete; wait clean');
    expect(played.outcome.failure).toBeUndefined();
    expect(played.timeline.entries.find(({ kind }) => kind === 'note')?.text).toMatch(
      /^CSIDriver fake\.csi\.test says attachRequired: false: the driver runs with --capabilities=-PUBLISH_UNPUBLISH_VOLUME,/,
    );
    const strict = await play(manifests, 'create; wait calls NodeStageVolume FAILED_PRECONDITION', {
      capabilities: 'all',
    });
    expect(strict.outcome.failure).toBeUndefined();
  });

  test('an inline volume is published and nothing else, by an id of pod and name', async () => {
    const manifests = `${driver('volumeLifecycleModes: [Ephemeral], podInfoOnMount: true')}
apiVersion: v1
kind: Pod
metadata: {name: web, uid: uid-1}
spec:
  containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /s}]}]
  volumes: [{name: scratch, csi: {driver: fake.csi.test, volumeAttributes: {size: 10Mi}}}]
`;
    const played = await play(manifests, 'create; wait running; delete; wait clean');
    expect(played.kubeletCalls).toEqual([
      ...capabilities(2),
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
    ]);
    expect(callsOf(played, 'NodePublishVolume')[0]?.request).toMatchObject({
      volume_id: `csi-${sha256('uid-1scratch')}`,
      volume_context: {
        size: '10Mi',
        'csi.storage.k8s.io/pod.name': 'web',
        'csi.storage.k8s.io/pod.namespace': 'default',
        'csi.storage.k8s.io/pod.uid': 'uid-1',
        'csi.storage.k8s.io/serviceAccount.name': 'default',
        'csi.storage.k8s.io/ephemeral': 'true',
      },
    });
  });

  test('an inline volume of a driver that does not list Ephemeral never comes', async () => {
    const manifests = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /s}]}]
  volumes: [{name: scratch, csi: {driver: fake.csi.test}}]
`;
    const played = await play(manifests, 'create; wait event FailedMount; advance 10s; assert not running');
    expect(played.outcome.passed).toBe(true);
    expect(eventsOf(played, 'FailedMount')[0]?.message).toContain(
      'volume mode "Ephemeral" not supported by driver fake.csi.test',
    );
    expect(callsOf(played, 'NodePublishVolume')).toEqual([]);
  });

  test.each([
    ['ReadWriteOnce', '', 'SINGLE_NODE_MULTI_WRITER'],
    ['ReadWriteOnce', '-node.SINGLE_NODE_MULTI_WRITER', 'SINGLE_NODE_WRITER'],
    ['ReadWriteOncePod', '', 'SINGLE_NODE_SINGLE_WRITER'],
  ])('%s with capabilities %j is %s', async (mode, switched, expected) => {
    const manifests = ONE_POD.replace('ReadWriteOnce', mode);
    const played = await play(
      manifests,
      'create; wait running',
      switched === '' ? {} : { capabilities: switched },
    );
    expect(played.outcome.passed).toBe(true);
    expect(callsOf(played, 'NodeStageVolume')[0]?.request).toMatchObject({
      volume_capability: { access_mode: { mode: expected } },
    });
  });

  test('fsGroup goes to a driver that takes it, as a number in text', async () => {
    const played = await play(
      STORAGE_CLASS + CLAIM + pod('web', 'securityContext: {fsGroup: 2000}'),
      'create; wait running',
    );
    for (const method of ['NodeStageVolume', 'NodePublishVolume'])
      expect(callsOf(played, method)[0]?.request).toMatchObject({
        volume_capability: { mount: { volume_mount_group: '2000' } },
      });
  });

  test('secrets are read from their namespaces; a missing one is no error of the driver', async () => {
    const manifests =
      staticVolume({ csi: ', nodeStageSecretRef: {name: key, namespace: vault}' }) + pod('web');
    const missing = await play(manifests, 'create; wait event FailedMount; assert state data not-staged');
    expect(missing.outcome.passed).toBe(true);
    expect(eventsOf(missing, 'FailedMount')[0]?.message).toBe(
      'MountVolume.MountDevice failed for volume "pv-1" : fetching NodeStageSecretRef vault/key failed: kubernetes.io/csi: failed to find the secret key in the namespace vault with error: secrets "key" not found',
    );
    const secret =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: vault}\nstringData: {token: x}\n---';
    expect((await play(secret + manifests, 'create; wait running')).outcome.passed).toBe(true);
  });

  test('requiresRepublish: NodePublishVolume again with each sync of the pod, never NodeStageVolume', async () => {
    const manifests = driver('requiresRepublish: true') + ONE_POD;
    const played = await play(manifests, 'create; wait running; advance 5m');
    const gaps = callsOf(played, 'NodePublishVolume').map(({ at }) => at);
    expect(gaps.length).toBeGreaterThanOrEqual(4);
    for (const [index, at] of gaps.entries()) {
      const before = gaps[index - 1];
      if (before === undefined || index === 1) continue;
      expect(at - before).toBeGreaterThanOrEqual(60_000);
      expect(at - before).toBeLessThanOrEqual(90_500);
    }
    expect(callsOf(played, 'NodeStageVolume')).toHaveLength(1);
  });

  test('statistics are asked for each one to two minutes', async () => {
    const played = await play(ONE_POD, 'create; wait running; advance 10m');
    const stats = callsOf(played, 'NodeGetVolumeStats');
    expect(stats.length).toBeGreaterThanOrEqual(5);
    expect(stats.length).toBeLessThanOrEqual(10);
    expect(stats[0]?.request).toMatchObject({ volume_path: expect.stringMatching(/\/mount$/) });
  });
});

describe('expansion', () => {
  test('online: the resizer does its part at once, the node with the next sync of the pod', async () => {
    const played = await play(
      ONE_POD,
      'create; wait running; expand data 2Gi; wait event FileSystemResizeSuccessful',
    );
    expect(played.outcome.passed).toBe(true);
    const [controller] = callsOf(played, 'ControllerExpandVolume');
    const [node] = callsOf(played, 'NodeExpandVolume');
    expect((node?.at ?? 0) - (controller?.at ?? 0)).toBeGreaterThan(50_000);
    expect((node?.at ?? 0) - (controller?.at ?? 0)).toBeLessThan(91_000);
    expect(node?.request).toMatchObject({ capacity_range: { required_bytes: `${2n * 1024n ** 3n}` } });
    expect(played.rehearsal.cluster.api.claims.get('default/data')?.capacityBytes).toBe(2n * 1024n ** 3n);
  });

  test('a class that does not allow it is told in an event, and no driver is asked', async () => {
    const manifests = ONE_POD.replace('allowVolumeExpansion: true', '');
    const played = await play(
      manifests,
      'create; wait running; expand data 2Gi; wait event VolumeResizeFailed',
    );
    expect(played.outcome.passed).toBe(true);
    expect(callsOf(played, 'ControllerExpandVolume')).toEqual([]);
  });
});
