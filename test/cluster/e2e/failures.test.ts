import * as fs from 'node:fs';
import * as path from 'node:path';
import {
  attachment,
  dataOf,
  deleteWithFiles,
  detachError,
  detached,
  inUse,
  kubeletLog,
  warns,
} from './stage/observe';
import { inScene, type Scene } from './stage/scene';

const EXAMPLES = path.join(__dirname, '../../../deploy/examples');
const example = (name: string) => fs.readFileSync(path.join(EXAMPLES, `${name}.yaml`), 'utf8');

/** A pod that runs, and is told to go. */
async function deleteRunning(scene: Scene, name: string): Promise<void> {
  await scene.apply(example(name));
  await scene.running(name);
  expect((await dataOf(scene, name)).ofDriver).toBe(true);
  await scene.kubectl('delete', 'pod', name, '--wait=false');
}

it.concurrent(
  'stuck attaching, slow: the attacher gives up before the volume is attached, and finds it later',
  inScene('fails-slow-attach', async (scene) => {
    await scene.apply(example('fail-slow-attach'));
    await warns(
      scene,
      'fail-slow-attach',
      'FailedAttachVolume',
      /^AttachVolume\.Attach failed for volume "pvc-\S+" : rpc error: code = (DeadlineExceeded|Aborted) /,
    );
    expect((await scene.callsOfClaims()).some(({ method }) => method === 'NodeStageVolume')).toBe(false);
    await scene.running('fail-slow-attach');
    expect((await dataOf(scene, 'fail-slow-attach')).ofDriver).toBe(true);
  }),
);

it.concurrent(
  'stuck attaching, refused: the reason is in the event and in the VolumeAttachment',
  inScene('fails-attach-fails', async (scene) => {
    await scene.apply(example('fail-attach-fails'));
    const message = await warns(scene, 'fail-attach-fails', 'FailedAttachVolume', 'may not attach');
    expect(message).toMatch(
      /^AttachVolume\.Attach failed for volume "pvc-\S+" : rpc error: code = PermissionDenied desc = \[scenario attach-fails: rule refused, \d of 4\] /,
    );
    await scene.running('fail-attach-fails');
    expect((await attachment(scene))?.status.attachError).toBeUndefined();
  }),
);

it.concurrent(
  'stuck mounting, wrong fsType: with the words of mount(8) and the kernel',
  inScene('fails-wrong-fstype', async (scene) => {
    await scene.apply(example('fail-wrong-fstype'));
    const message = await warns(scene, 'fail-wrong-fstype', 'FailedMount', 'MountVolume.MountDevice failed');
    expect(message).toMatch(
      /: wrong fs type, bad option, bad superblock on \/dev\/loop\d+, missing codepage or helper program, or other error\./,
    );
    expect(message).toContain("VFS: Can't find ext4 filesystem");
    await scene.running('fail-wrong-fstype');
    expect((await dataOf(scene, 'fail-wrong-fstype')).ofDriver).toBe(true);
  }),
);

it.concurrent(
  'stuck mounting, missing device: then it is there',
  inScene('fails-missing-device', async (scene) => {
    await scene.apply(example('fail-missing-device'));
    const message = await warns(
      scene,
      'fail-missing-device',
      'FailedMount',
      'MountVolume.MountDevice failed',
    );
    expect(message).toMatch(/special device \/dev\/disk\/by-id\/\S+ does not exist/);
    await scene.running('fail-missing-device');
    expect((await dataOf(scene, 'fail-missing-device')).ofDriver).toBe(true);
  }),
);

it.concurrent(
  'mounted but not visible, OK without a mount: the pod writes to the disk of the node, and nothing tells',
  inScene('fails-not-visible', async (scene) => {
    await scene.apply(example('fail-not-visible'));
    await scene.running('fail-not-visible');
    const { ofDriver, log } = await dataOf(scene, 'fail-not-visible');
    expect(ofDriver).toBe(false);
    expect(log).not.toBe('');
    const warnings = (await scene.events('Pod/fail-not-visible')).filter(({ reason }) => /Fail/.test(reason));
    // On a busy machine the kubelet's caches may be late for the token, which is a volume of its own.
    const ofData = warnings.filter(({ message }) => !message.includes('"kube-api-access-'));
    expect(ofData.filter(({ reason }) => reason !== 'FailedScheduling')).toEqual([]);
    await deleteWithFiles(scene, 'fail-not-visible');
    await scene.apply(example('fail-not-visible'));
    await scene.running('fail-not-visible');
    const next = await dataOf(scene, 'fail-not-visible');
    expect(next.ofDriver).toBe(true);
    expect(next.log).not.toContain(log.trim());
  }),
);

it.concurrent(
  'fails to detach, busy: the volume stays in use, which only the log of the kubelet tells',
  inScene('fails-unstage-fails', async (scene) => {
    await deleteRunning(scene, 'fail-unstage-fails');
    const log = await kubeletLog(scene);
    await scene.gone('pod', 'fail-unstage-fails');
    await scene.until('it in the log', async () =>
      log().some((line) => /UnmountDevice failed .*target is busy/.test(line)),
    );
    expect(await inUse(scene)).toBe(true);
    expect((await attachment(scene))?.metadata.deletionTimestamp).toBeUndefined();
    await detached(scene);
    expect(await inUse(scene)).toBe(false);
    const told = (await scene.events()).filter(({ message }) => message.includes('target is busy'));
    expect(told).toEqual([]);
  }),
);

it.concurrent(
  'fails to detach, refused: the VolumeAttachment has the reason',
  inScene('fails-detach-fails', async (scene) => {
    await deleteRunning(scene, 'fail-detach-fails');
    await scene.gone('pod', 'fail-detach-fails');
    await detachError(scene, /code = Internal desc = \[scenario detach-fails: rule held, \d of 5\] /);
    expect((await attachment(scene))?.metadata.deletionTimestamp).toBeDefined();
    await detached(scene);
  }),
);

it.concurrent(
  'fails to detach, hangs: the attacher gives up, and its next try detaches',
  inScene('fails-stuck-detaching', async (scene) => {
    await deleteRunning(scene, 'fail-stuck-detaching');
    await scene.gone('pod', 'fail-stuck-detaching');
    await detached(scene);
    // Its status says "context deadline exceeded" for the second until the next try: too short to be looked for.
    const tries = (await scene.callsOfClaims()).filter(
      ({ method }) => method === 'ControllerUnpublishVolume',
    );
    expect(tries.map(({ code }) => code).slice(0, 2)).toEqual(['DEADLINE_EXCEEDED', 'OK']);
    expect(tries[0]?.durationMs).toBeGreaterThan(14_000);
  }),
);
