import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { hostMountView } from '../../../src/embedded/host-mount-view';
import { createMemoryHost } from '../../../src/host/memory';
import { CLAIM, callsOf, eventsOf, play, pod, rules, STORAGE_CLASS } from './harness';

const POD = pod('web').replace(
  'volumeMounts: [{name: data, mountPath: /data}]',
  'volumeMounts: [{name: data, mountPath: /data}, {name: data, mountPath: /logs, subPath: var/logs}]',
);
const MANIFESTS = STORAGE_CLASS + CLAIM + POD;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});
function folder(): string {
  const made = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), 'rehearsal-sub-'));
  folders.push(made);
  return made;
}
const texts = (played: Awaited<ReturnType<typeof play>>) => played.timeline.entries.map(({ text }) => text);

test('a subPath is bound when the container starts, by container and place in its list, and goes before the volume', async () => {
  const rootDir = folder();
  const played = await play(MANIFESTS, 'create; wait running', { rootDir });
  const [pv] = played.rehearsal.cluster.api.volumes.all();
  const [web] = played.rehearsal.cluster.api.pods.all();
  const bound = `pods/${web?.meta.uid}/volume-subpaths/${pv?.meta.name}/main/1`;
  expect(fs.statSync(path.join(rootDir, bound)).isDirectory()).toBe(true);
  const target = `/var/lib/kubelet/pods/${web?.meta.uid}/volumes/kubernetes.io~csi/${pv?.meta.name}/mount`;
  expect(texts(played)).toContain(`bound ${target}/var/logs at /var/lib/kubelet/${bound}`);
  const whole = await play(MANIFESTS, 'create; wait running; delete; wait clean; advance 5s', {
    rootDir: folder(),
  });
  expect(whole.outcome).toMatchObject({ failure: undefined, standings: [] });
  const all = texts(whole);
  const cleaned = all.findIndex((text) => text.startsWith('unmounted and removed the subPaths'));
  expect(cleaned).toBeGreaterThan(0);
  expect(cleaned).toBeLessThan(all.indexOf('NodeUnpublishVolume'));
  const [left = ''] = folders.slice(-1);
  expect(fs.readdirSync(path.join(left, 'pods'))).toEqual([]);
});

test('a restart of the kubelet leaves the bind, and the next one still finds it by its folder', async () => {
  const played = await play(
    MANIFESTS,
    'create; wait running; kubelet restart; wait state data mounted; kubelet stop; delete; kubelet start; wait clean',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(texts(played).filter((text) => text.startsWith('bound '))).toHaveLength(1);
});

test('after a reboot containers start anew, and so do their binds', async () => {
  const played = await play(MANIFESTS, 'create; wait running; node reboot; wait running; delete; wait clean');
  expect(played.outcome.failure).toBeUndefined();
  expect(texts(played).filter((text) => text.startsWith('bound '))).toHaveLength(2);
});

test('where the driver made no target the container cannot start, and says so', async () => {
  const played = await play(
    MANIFESTS,
    'create; wait event Failed web; assert not running; assert state data mounted',
    {
      scenario: rules('{name: lie, match: {rpc: NodePublishVolume}, then: [{at: instead}]}'),
    },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'Failed')[0]?.message).toBe(
    'Error: failed to create subPath directory for volumeMount "data" of container "main"',
  );
  expect(callsOf(played, 'NodePublishVolume').length).toBeGreaterThan(0);
});

describe('a folder in a real volume', () => {
  const view = hostMountView(() => createMemoryHost().mounts, false);

  test('is made where it is not there', async () => {
    const volume = folder();
    expect(await view.folderIn(volume, 'a/./b//c')).toBe(path.join(volume, 'a/b/c'));
    expect(await view.folderIn(volume, 'a/b/c')).toBe(path.join(volume, 'a/b/c'));
  });

  test('behind a link is only one inside; nothing is made outside', async () => {
    const volume = folder();
    const outside = folder();
    fs.mkdirSync(path.join(volume, 'real'));
    fs.symlinkSync('real', path.join(volume, 'inside'));
    fs.symlinkSync(outside, path.join(volume, 'outside'));
    fs.symlinkSync('..', path.join(volume, 'up'));
    expect(await view.folderIn(volume, 'inside/x')).toBe(path.join(volume, 'real/x'));
    await expect(view.folderIn(volume, 'outside/x')).rejects.toThrow(/not within volume path/);
    await expect(view.folderIn(volume, 'up/y')).rejects.toThrow(/not within volume path/);
    expect(fs.readdirSync(outside)).toEqual([]);
  });
});
