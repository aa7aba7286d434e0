import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { blockCapability, createVolume, dispose, mountCapability, stage } from '../support/lifecycle';
import { conformance, outcome } from './harness';
import { publishing } from './publishing';

conformance('NodePublishVolume', (bench) => {
  const { staged, call, at, exists, newTarget, folder } = publishing(bench);

  test('NP01 the same again, ten times: OK, one mount', async () => {
    for (const capability of [mountCapability(), blockCapability()]) {
      const { request } = await staged(capability);
      for (let i = 0; i < 10; i++) expect(await call({ ...request, secrets: { count: `${i}` } })).toBe('OK');
      const mounts = (await bench.host.mounts.list()).filter(
        ({ mountPoint }) => mountPoint === request.target_path,
      );
      expect(mounts).toHaveLength(1);
    }
  });

  test('NP02 STAGE_UNSTAGE_VOLUME and no staging_target_path: FAILED_PRECONDITION', async () => {
    const { request } = await staged();
    expect(await call({ ...request, staging_target_path: '' })).toBe('FAILED_PRECONDITION');
    expect(await exists(request.target_path)).toBe(false);
  });

  test('NP02 not staged, or staged elsewhere: FAILED_PRECONDITION, nothing is bound', async () => {
    const { request } = await staged();
    const staging_target_path = await folder();
    expect(await call({ ...request, staging_target_path })).toBe('FAILED_PRECONDITION');
    expect(await call({ ...request, volume_id: await createVolume(bench.driver) })).toBe(
      'FAILED_PRECONDITION',
    );
    expect(await exists(request.target_path)).toBe(false);
  });

  test('NP02 without STAGE_UNSTAGE_VOLUME: OK without a staging_target_path', async () => {
    const driver = await bench.start({
      capabilities:
        '-STAGE_UNSTAGE_VOLUME,-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES',
    });
    const volume_id = await createVolume(driver);
    const target_path = await driver.target('t');
    const publishIt = () =>
      outcome(driver.csi.NodePublishVolume({ volume_id, target_path, volume_capability: mountCapability() }));
    expect([await publishIt(), await publishIt()]).toEqual(['OK', 'OK']);
    expect(await at(target_path)).not.toBeNull();
    await driver.csi.NodeUnpublishVolume({ volume_id, target_path });
    expect(await exists(target_path)).toBe(false);
  });

  test('NP03 an unknown volume: NOT_FOUND', async () => {
    const { request } = await staged();
    expect(await call({ ...request, volume_id: 'unknown' })).toBe('NOT_FOUND');
    expect(await exists(request.target_path)).toBe(false);
  });

  test.each([
    ['volume_capability absent', { volume_capability: null }],
    ['volume_capability empty', { volume_capability: {} }],
    ['target_path empty', { target_path: '' }],
    ['target_path relative', { target_path: 'some/target' }],
    ['staging_target_path relative', { staging_target_path: 'some/staging' }],
    ['volume_id empty', { volume_id: '' }],
  ])('NP04 %s: INVALID_ARGUMENT', async (_what, fields) => {
    const { request } = await staged();
    expect(await call({ ...request, ...fields })).toBe('INVALID_ARGUMENT');
  });

  test('NP11 readonly: the target is, the stage is not', async () => {
    const { request, used } = await staged();
    await bench.csi.NodePublishVolume({ ...request, readonly: true });
    expect((await at(request.target_path))?.readOnly).toBe(true);
    expect((await at(used.staging))?.readOnly).toBe(false);
    if (bench.target.real)
      await expect(fs.writeFile(path.join(request.target_path, 'x'), '')).rejects.toThrow('EROFS');
  });

  test.each(['SINGLE_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'] as const)(
    'NP11 %s: the target is read-only though readonly is not set',
    async (mode) => {
      const { request } = await staged(mountCapability({ mode }));
      await bench.csi.NodePublishVolume(request);
      expect((await at(request.target_path))?.readOnly).toBe(true);
    },
  );

  test('NP11 attached read-only: the target is read-only, and the same call again is OK', async () => {
    const volume_id = await createVolume(bench.driver);
    const volume_capability = mountCapability();
    const { publish_context } = await bench.csi.ControllerPublishVolume({
      volume_id,
      node_id: 'node-1',
      volume_capability,
      readonly: true,
    });
    const staging_target_path = await folder();
    const target_path = await newTarget();
    const request = { volume_id, staging_target_path, target_path, volume_capability, publish_context };
    await bench.csi.NodeStageVolume(request);
    expect([await call(request), await call(request)]).toEqual(['OK', 'OK']);
    expect((await at(target_path))?.readOnly).toBe(true);
    expect(await call({ ...request, readonly: true })).toBe('ALREADY_EXISTS');
    await bench.csi.NodeUnpublishVolume(request);
    await bench.csi.NodeUnstageVolume(request);
  });

  test('NP12 the parent of target_path is missing: refused, and it is not made', async () => {
    const { request } = await staged();
    const parent = await folder();
    expect(await call({ ...request, target_path: path.join(parent, 'pod', 'mount') })).toBe(
      'FAILED_PRECONDITION',
    );
    expect(await fs.readdir(parent)).toEqual([]);
    expect(await call(request)).toBe('OK');
  });

  test('NP13 a mount volume: the target is a folder', async () => {
    const { request } = await staged();
    await bench.csi.NodePublishVolume(request);
    expect((await fs.lstat(request.target_path)).isDirectory()).toBe(true);
    expect(await at(request.target_path)).not.toBeNull();
  });

  test('NP13 a block volume: the target is no folder; on a real machine it is the device', async () => {
    const { request } = await staged(blockCapability());
    await bench.csi.NodePublishVolume(request);
    const stat = await fs.lstat(request.target_path);
    expect(stat.isDirectory()).toBe(false);
    expect(stat.isBlockDevice()).toBe(bench.target.real);
    expect(await at(request.target_path)).not.toBeNull();
  });

  test.each([
    ['an empty folder', 'OK'],
    ['a regular file', 'FAILED_PRECONDITION'],
    ['a link to a folder', 'INVALID_ARGUMENT'],
  ])('NP13 %s at target_path: %s, and what was there stays', async (what, expected) => {
    const { request } = await staged();
    const { target_path } = request;
    if (what === 'an empty folder') await fs.mkdir(target_path);
    if (what === 'a regular file') await fs.writeFile(target_path, 'mine');
    if (what === 'a link to a folder') await fs.symlink(await folder(), target_path);
    expect(await call(request)).toBe(expected);
    if (what === 'a regular file') expect(await fs.readFile(target_path, 'utf8')).toBe('mine');
    if (what === 'a link to a folder') expect((await fs.lstat(target_path)).isSymbolicLink()).toBe(true);
  });

  test.each(['beforeMount', 'mounted'])(
    'NP14 a failure at the point %s: nothing is left at target_path, and a repeat does it',
    async (point) => {
      let fail = true;
      const driver = await bench.start({
        faults: {
          before: async () => undefined,
          after: async (_call, response) => response,
          point: async (gate, name) => {
            if (gate.method === 'NodePublishVolume' && name === point && fail)
              throw new Error('the machine lost its mind');
          },
        },
      });
      for (const capability of [mountCapability(), blockCapability()]) {
        fail = true;
        const used = await stage(driver, await createVolume(driver, { capability }), { capability });
        const request = {
          volume_id: used.id,
          staging_target_path: used.staging,
          target_path: used.target,
          volume_capability: capability,
          publish_context: used.publishContext,
        };
        expect(await outcome(driver.csi.NodePublishVolume(request))).toBe('INTERNAL');
        expect(await exists(used.target)).toBe(false);
        fail = false;
        expect(await outcome(driver.csi.NodePublishVolume(request))).toBe('OK');
        await dispose(driver, used);
      }
    },
  );

  test.each([
    ['raw block of a mount volume', mountCapability(), blockCapability()],
    ['mount of a raw block volume', blockCapability(), mountCapability()],
    ['a filesystem that nobody knows', mountCapability(), mountCapability({ fsType: 'ntfs' })],
  ])('NP15 %s: FAILED_PRECONDITION, no target', async (_what, capability, volume_capability) => {
    const { request } = await staged(capability);
    expect(await call({ ...request, volume_capability })).toBe('FAILED_PRECONDITION');
    expect(await exists(request.target_path)).toBe(false);
  });

  test('NP16 volume_context with a changed key of the driver: INVALID_ARGUMENT', async () => {
    const { request } = await staged();
    expect(await call({ ...request, volume_context: { backend: 'other' } })).toBe('INVALID_ARGUMENT');
  });

  test('NP17 volume_mount_group with VOLUME_MOUNT_GROUP: the root belongs to the group and it may write', async () => {
    const { request, used } = await staged(mountCapability({ group: '4321' }));
    expect(await call(request)).toBe('OK');
    if (bench.target.real) {
      const stat = await fs.stat(request.target_path);
      expect([stat.gid, stat.mode & 0o2070]).toEqual([4321, 0o2070]);
      await fs.writeFile(path.join(request.target_path, 'file'), 'x');
      expect((await fs.stat(path.join(request.target_path, 'file'))).gid).toBe(4321);
    }
    await dispose(bench.driver, used);
  });

  test.each(['staff', '-1', '1.5', '99999999999'])(
    'NP17 the mount group %s, which is no number of one: INVALID_ARGUMENT, nothing stays mounted',
    async (group) => {
      const volume_id = await createVolume(bench.driver);
      const capability = mountCapability({ group });
      expect(await outcome(stage(bench.driver, volume_id, { capability }))).toBe('INVALID_ARGUMENT');
      expect(await at(await bench.driver.folder(`${volume_id}-staging`))).toBeNull();
    },
  );

  test('NP18 mount_flags hold at the target', async () => {
    if (!bench.target.real) return;
    const { request } = await staged(mountCapability({ mountFlags: ['noexec', 'nodev'] }));
    await bench.csi.NodePublishVolume(request);
    const entry = (await bench.host.mounts.list()).find(
      ({ mountPoint }) => mountPoint === request.target_path,
    );
    expect(entry?.options).toEqual(expect.arrayContaining(['noexec', 'nodev']));
  });

  test('NP19 a raw block volume at several targets: the same device', async () => {
    const { request } = await staged(blockCapability('MULTI_NODE_MULTI_WRITER'));
    const target_path = await newTarget();
    expect([await call(request), await call({ ...request, target_path })]).toEqual(['OK', 'OK']);
    if (!bench.target.real) return;
    const [one, two] = [await fs.stat(request.target_path), await fs.stat(target_path)];
    expect(one.rdev).toBe(two.rdev);
  });
});
