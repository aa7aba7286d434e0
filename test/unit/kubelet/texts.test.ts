import type { KubeletVersion } from '../../../src/kubelet/versions';
import { answers, callsOf, eventsOf, ONE_POD, type Played, play, pod, rules, staticVolume } from './harness';

/** What people search the web for: each text as the kubelet prints it, to the last sign. */

const CSI = 'kubernetes.io/csi: ';
const NO_SUCH = 'driver name fake.csi.test not found in the list of registered CSI drivers';

const volume = (secret: string, spec = '') => staticVolume({ csi: `, ${secret}`, spec });

const failures = (played: Played, reason = 'FailedMount') =>
  eventsOf(played, reason)
    .map(({ message }) => message)
    .filter((message) => !message.includes('PVC is not bound'));

const backoffs = ({ timeline }: Played) =>
  timeline.entries
    .filter(({ kind }) => kind === 'backoff')
    .map(({ text }) => text.replace(/^.* Error: /, ''));

describe('a secret that is not there', () => {
  const missing = `${CSI}failed to find the secret key in the namespace vault with error: secrets "key" not found`;

  test('of the stage, and of the publish', async () => {
    const text = async (reference: string) => {
      const manifests = volume(`${reference}: {name: key, namespace: vault}`) + pod('web');
      return failures(await play(manifests, 'create; wait event FailedMount; advance 12s'))[0];
    };
    expect(await text('nodeStageSecretRef')).toBe(
      `MountVolume.MountDevice failed for volume "pv-1" : fetching NodeStageSecretRef vault/key failed: ${missing}`,
    );
    expect(await text('nodePublishSecretRef')).toBe(
      `MountVolume.SetUp failed for volume "pv-1" : fetching NodePublishSecretRef vault/key failed: ${missing}`,
    );
  });

  test('of a raw block volume', async () => {
    const block = pod('web').replace(
      'volumeMounts: [{name: data, mountPath: /data}]',
      'volumeDevices: [{name: data, devicePath: /dev/x}]',
    );
    const text = async (reference: string, version: KubeletVersion) => {
      const claim = volume(`${reference}: {name: key, namespace: vault}`, 'volumeMode: Block').replace(
        'resources:',
        'volumeMode: Block, resources:',
      );
      return failures(
        await play(claim + block, 'create; wait event FailedMapVolume', { version }),
        'FailedMapVolume',
      )[0];
    };
    expect(await text('nodeStageSecretRef', '1.36')).toBe(
      `MapVolume.SetUpDevice failed for volume "pv-1" : ${CSI}failed to get NodeStageSecretRef vault/key: ${missing}`,
    );
    expect(await text('nodeStageSecretRef', '1.32')).toBe(
      `MapVolume.SetUpDevice failed for volume "pv-1" : failed to get NodeStageSecretRef vault/key: ${missing}`,
    );
    expect(await text('nodePublishSecretRef', '1.36')).toBe(
      `MapVolume.MapPodDevice failed for volume "pv-1" : ${CSI}blockMapper.publishVolumeForBlock failed to get NodePublishSecretRef vault/key: ${missing}`,
    );
  });
});

test('a way of use that the driver does not list', async () => {
  const inline = (modes: string) => `${modes}
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /s}]}]
  volumes: [{name: scratch, csi: {driver: fake.csi.test}}]
`;
  const listed = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {volumeLifecycleModes: [Persistent]}
---`;
  const text = async (modes: string) =>
    failures(await play(inline(modes), 'create; wait event FailedMount'))[0];
  const begin = `MountVolume.SetUp failed for volume "scratch" : ${CSI}mounter.SetupAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver fake.csi.test`;
  // The first try may come before the driver is registered: a volume that is not attached does not wait.
  expect(await text('')).toBe(`${begin} (no CSIDriver object)`);
  expect(await text(listed)).toBe(`${begin} (only supports ["Persistent"])`);
});

test.each([
  [1, 'MountVolume.MountDevice failed for volume "PV" : RPC'],
  [
    2,
    `MountVolume.MountDevice failed for volume "PV" : ${CSI}attacher.MountDevice failed to determine if the node service has VOLUME_MOUNT_GROUP capability: RPC`,
  ],
  [3, 'MountVolume.MountDevice failed for volume "PV" : RPC'],
  [
    4,
    `MountVolume.SetUp failed for volume "PV" : ${CSI}mounter.SetUpAt failed to check for STAGE_UNSTAGE_VOLUME capability: RPC`,
  ],
  [
    5,
    `MountVolume.SetUp failed for volume "PV" : ${CSI}mounter.SetUpAt failed to determine if the node service has VOLUME_MOUNT_GROUP capability: RPC`,
  ],
  [6, 'MountVolume.SetUp failed for volume "PV" : RPC'],
])('NodeGetCapabilities fails at question %i', async (nth, expected) => {
  const scenario = rules(
    `{name: once, match: {rpc: NodeGetCapabilities}, when: {per: rule, nth: ${nth}}, then: [{error: INTERNAL}]}`,
  );
  const played = await play(ONE_POD, 'create; wait event FailedMount', { scenario });
  const [message = ''] = failures(played);
  expect(message.replace(/"pvc-[^"]*"/, '"PV"').replace(/rpc error: code = Internal desc = .*$/, 'RPC')).toBe(
    expected,
  );
});

describe('teardown', () => {
  test.each([
    [
      'NodeUnpublishVolume',
      `UnmountVolume.TearDown failed for volume "PV" : ${CSI}Unmounter.TearDownAt failed: RPC`,
    ],
    ['NodeUnstageVolume', `UnmountDevice failed for volume "PV" : ${CSI}attacher.UnmountDevice failed: RPC`],
  ])('%s fails', async (rpc, expected) => {
    const played = await play(ONE_POD, `create; wait running; delete; wait calls ${rpc} INTERNAL`, {
      scenario: answers(rpc, 'INTERNAL(no)'),
    });
    const [text = ''] = backoffs(played);
    expect(text.replace(/"pvc-[^"]*"/, '"PV"').replace(/rpc error: .*$/, 'RPC')).toBe(expected);
  });

  test('NodeGetCapabilities fails before NodeUnstageVolume', async () => {
    const scenario = rules(
      '{name: last, match: {rpc: NodeGetCapabilities}, when: {per: rule, nth: 7}, then: [{error: INTERNAL}]}',
    );
    const played = await play(ONE_POD, 'create; wait running; delete; wait clean', { scenario });
    expect(
      backoffs(played)[0]
        ?.replace(/"pvc-[^"]*"/, '"PV"')
        .replace(/rpc error: .*$/, 'RPC'),
    ).toBe(
      `UnmountDevice failed for volume "PV" : ${CSI}attacher.UnmountDevice failed to check whether STAGE_UNSTAGE_VOLUME set: RPC`,
    );
  });

  test('the driver is not registered: in words, and the mount is uncertain from then on', async () => {
    const played = await play(
      ONE_POD,
      'create; wait running; plugin unregister; delete; advance 5s; assert state data mount-uncertain; plugin register; wait clean',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(backoffs(played)[0]?.replace(/"pvc-[^"]*"/, '"PV"')).toBe(
      `UnmountVolume.TearDown failed for volume "PV" : ${CSI}Unmounter.TearDownAt failed to get CSI client: ${NO_SUCH}`,
    );
  });
});

describe('the third and the sixth question (SINGLE_NODE_MULTI_WRITER)', () => {
  // csi_client.go: only newer kubelets take an open code of NodeGetCapabilities for open.
  test.each([
    ['1.36', 3, 'stage-uncertain', 1],
    ['1.32', 3, 'not-staged', 0],
    ['1.36', 6, 'mount-uncertain', 1],
    ['1.32', 6, 'not-mounted', 0],
  ] as const)('with %s, at %i, UNAVAILABLE: %s', async (version, nth, state, undone) => {
    const scenario = rules(
      `{name: from, match: {rpc: NodeGetCapabilities}, when: {per: rule, skip: ${nth - 3}, every: 3}, then: [{error: UNAVAILABLE}]}`,
    );
    const played = await play(
      ONE_POD,
      `create; wait event FailedMount; assert state data ${state}; delete; wait gone; advance 1s`,
      { scenario, version },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, nth === 3 ? 'NodeUnstageVolume' : 'NodeUnpublishVolume').length).toBe(undone);
  });
});
