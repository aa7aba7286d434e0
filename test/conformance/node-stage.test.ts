import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { blockCapability, createVolume, mountCapability } from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('NodeStageVolume', (bench) => {
  let last = 0;
  const attach = async (volume_id: string, volume_capability = mountCapability()) =>
    (await bench.csi.ControllerPublishVolume({ volume_id, node_id: 'node-1', volume_capability }))
      .publish_context;
  /** A volume that is attached, and the request that stages it. */
  const attached = async (options: { capability?: ReturnType<typeof mountCapability> } = {}) => {
    const capability = options.capability ?? mountCapability();
    const volume_id = await createVolume(bench.driver, { capability });
    return {
      volume_id,
      publish_context: await attach(volume_id, capability),
      staging_target_path: await bench.driver.folder(`stage-${++last}`),
      volume_capability: capability,
    };
  };
  const call = (request: object) => outcome(bench.csi.NodeStageVolume(request));

  test('NS1 the same path and capability again: OK, one mount', async () => {
    for (const capability of [mountCapability({ mountFlags: ['noatime'] }), blockCapability()]) {
      const request = await attached({ capability });
      expect([
        await call(request),
        await call(request),
        await call({ ...request, secrets: { a: 'b' } }),
      ]).toEqual(['OK', 'OK', 'OK']);
      const mounts = (await bench.host.mounts.list()).filter(
        ({ mountPoint }) => mountPoint === request.staging_target_path,
      );
      expect(mounts).toHaveLength(capability.mount ? 1 : 0);
    }
  });

  test.each([
    ['another access mode', mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' })],
    ['a read-only access mode', mountCapability({ mode: 'SINGLE_NODE_READER_ONLY' })],
    ['another fs_type', mountCapability({ fsType: 'xfs' })],
    ['other mount_flags', mountCapability({ mountFlags: ['nodev'] })],
    ['another mount group', mountCapability({ group: '1234' })],
    ['another access type', blockCapability()],
  ])('NS2 the same path, %s: ALREADY_EXISTS, and it stays staged', async (_what, volume_capability) => {
    const request = await attached({ capability: mountCapability({ fsType: 'ext4' }) });
    await bench.csi.NodeStageVolume(request);
    expect(await call({ ...request, volume_capability })).toBe('ALREADY_EXISTS');
    expect(await call(request)).toBe('OK');
  });

  test.each([
    ['raw block of a mount volume', mountCapability(), blockCapability()],
    ['mount of a raw block volume', blockCapability(), mountCapability()],
    ['a filesystem that nobody knows', mountCapability(), mountCapability({ fsType: 'ntfs' })],
  ])('NS3 %s: FAILED_PRECONDITION, nothing is mounted', async (_what, capability, volume_capability) => {
    const request = await attached({ capability });
    expect(await call({ ...request, volume_capability })).toBe('FAILED_PRECONDITION');
    expect(await bench.host.mounts.at(request.staging_target_path)).toBeNull();
    expect(await call(request)).toBe('OK');
  });

  test('NS4 a relative staging_target_path: INVALID_ARGUMENT', async () => {
    const request = await attached();
    for (const staging_target_path of ['stage', './stage', 'a/../b'])
      expect(await call({ ...request, staging_target_path })).toBe('INVALID_ARGUMENT');
  });

  test.each(['a regular file', 'a link to a folder', 'nothing', 'nothing, nor its parent'])(
    'NS5 %s at staging_target_path: refused, and it is not made',
    async (what) => {
      const request = await attached();
      const folder = await bench.driver.folder(`ns5-${++last}`);
      const at = path.join(folder, what === 'nothing, nor its parent' ? 'none/stage' : 'stage');
      if (what === 'a regular file') await fs.writeFile(at, 'mine');
      if (what === 'a link to a folder') await fs.symlink(await bench.driver.folder(`ns5-${++last}`), at);
      const before = await fs.readdir(folder, { recursive: true });
      expect(['FAILED_PRECONDITION', 'INVALID_ARGUMENT']).toContain(
        await call({ ...request, staging_target_path: at }),
      );
      expect(await fs.readdir(folder, { recursive: true })).toEqual(before);
      if (what === 'a regular file') expect(await fs.readFile(at, 'utf8')).toBe('mine');
      // The CO makes it, and tries again.
      await fs.rm(at, { force: true });
      await fs.mkdir(at, { recursive: true });
      expect(await call({ ...request, staging_target_path: at })).toBe('OK');
    },
  );

  test('NS6 not attached to this node: FAILED_PRECONDITION', async () => {
    const request = await attached();
    await bench.csi.ControllerUnpublishVolume({ volume_id: request.volume_id });
    expect(await call(request)).toBe('FAILED_PRECONDITION');
  });

  test('NS6 the publish_context of another volume: FAILED_PRECONDITION; none, or more keys: OK', async () => {
    const request = await attached();
    const other = await attached();
    expect(await call({ ...request, publish_context: other.publish_context })).toBe('FAILED_PRECONDITION');
    expect(await call({ ...request, publish_context: {} })).toBe('OK');
    expect(
      await call({ ...request, publish_context: { ...request.publish_context, device: '/dev/x' } }),
    ).toBe('OK');
  });

  test('NS7 a second staging path: FAILED_PRECONDITION, the first stays', async () => {
    const request = await attached();
    await bench.csi.NodeStageVolume(request);
    const staging_target_path = await bench.driver.folder(`second-${++last}`);
    expect(await call({ ...request, staging_target_path })).toBe('FAILED_PRECONDITION');
    expect(await bench.host.mounts.at(staging_target_path)).toBeNull();
    expect(await call(request)).toBe('OK');
  });

  test('NS8 an unknown volume: NOT_FOUND; a missing capability before it: INVALID_ARGUMENT', async () => {
    const request = { ...(await attached()), volume_id: 'unknown' };
    expect(await call(request)).toBe('NOT_FOUND');
    expect(await call({ ...request, volume_capability: null })).toBe('INVALID_ARGUMENT');
    expect(await call({ ...request, volume_capability: {} })).toBe('INVALID_ARGUMENT');
  });

  test('NS9 volume_context with a changed key of the driver: INVALID_ARGUMENT; with keys of the CO: OK', async () => {
    const request = await attached();
    expect(await call({ ...request, volume_context: { backend: 'other' } })).toBe('INVALID_ARGUMENT');
    const volume_context = { 'storage.kubernetes.io/csiProvisionerIdentity': 'x' };
    expect(await call({ ...request, volume_context })).toBe('OK');
  });

  test('NS10 the alpha access modes without the capability: INVALID_ARGUMENT, SINGLE_NODE_WRITER: OK', async () => {
    const driver = await bench.start({ capabilities: '-node.SINGLE_NODE_MULTI_WRITER' });
    const volume_id = await createVolume(driver);
    const staging_target_path = await driver.folder('s');
    const publish_context = (
      await driver.csi.ControllerPublishVolume({
        volume_id,
        node_id: 'node-1',
        volume_capability: mountCapability(),
      })
    ).publish_context;
    const stageAs = (mode: 'SINGLE_NODE_WRITER' | 'SINGLE_NODE_MULTI_WRITER' | 'SINGLE_NODE_SINGLE_WRITER') =>
      outcome(
        driver.csi.NodeStageVolume({
          volume_id,
          staging_target_path,
          publish_context,
          volume_capability: mountCapability({ mode }),
        }),
      );
    expect(await stageAs('SINGLE_NODE_MULTI_WRITER')).toBe('INVALID_ARGUMENT');
    expect(await stageAs('SINGLE_NODE_SINGLE_WRITER')).toBe('INVALID_ARGUMENT');
    expect(await stageAs('SINGLE_NODE_WRITER')).toBe('OK');
  });

  test('a static volume that its volume_context describes is made at its first stage', async () => {
    const request = await attached();
    const volume_id = 'a-static-volume';
    const volume_context = { size: '64Mi' };
    const publish_context = (
      await bench.csi.ControllerPublishVolume({
        volume_id,
        node_id: 'node-1',
        volume_capability: request.volume_capability,
        volume_context,
      })
    ).publish_context;
    expect(await call({ ...request, volume_id, volume_context, publish_context })).toBe('OK');
    const bad = { volume_id: 'other', volume_context: { size: 'large' }, publish_context: {} };
    expect(await call({ ...request, ...bad })).toBe('INVALID_ARGUMENT');
  });
});
