import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import {
  blockCapability,
  createVolume,
  dispose,
  mountCapability,
  publish,
  stage,
} from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('NodeUnpublishVolume', (bench) => {
  const call = (volume_id: string, target_path: string) =>
    outcome(bench.csi.NodeUnpublishVolume({ volume_id, target_path }));
  const published = async (capability = mountCapability()) => {
    const used = await stage(bench.driver, await createVolume(bench.driver, { capability }), { capability });
    await publish(bench.driver, used);
    return used;
  };

  test('UP1 again after success, a path that is not there, a volume that was never published: OK each', async () => {
    const used = await published();
    expect([await call(used.id, used.target), await call(used.id, used.target)]).toEqual(['OK', 'OK']);
    expect(await call(used.id, path.join(bench.driver.dir, 'not', 'there'))).toBe('OK');
    const never = await createVolume(bench.driver);
    expect(await call(never, await bench.driver.target('up1'))).toBe('OK');
  });

  test.each([
    ['mount', mountCapability()],
    ['block', blockCapability()],
  ])(
    'UP2 after success (%s): the target is gone, its parent stays, the stage too',
    async (_what, capability) => {
      const used = await published(capability);
      expect(await call(used.id, used.target)).toBe('OK');
      await expect(fs.lstat(used.target)).rejects.toThrow('ENOENT');
      expect((await fs.stat(path.dirname(used.target))).isDirectory()).toBe(true);
      await publish(bench.driver, used);
      await dispose(bench.driver, used);
    },
  );

  test('UP3 a path that was never published and holds foreign files: OK, they are untouched', async () => {
    const id = await createVolume(bench.driver);
    const folder = await bench.driver.target('foreign');
    await fs.mkdir(path.join(folder, 'deep'), { recursive: true });
    await fs.writeFile(path.join(folder, 'deep', 'file'), 'mine');
    expect(await call(id, folder)).toBe('OK');
    expect(await fs.readFile(path.join(folder, 'deep', 'file'), 'utf8')).toBe('mine');
    const file = await bench.driver.target('foreign-file');
    await fs.writeFile(file, 'mine');
    expect(await call(id, file)).toBe('OK');
    expect(await fs.readFile(file, 'utf8')).toBe('mine');
  });

  test('UP3 a link at target_path: neither followed nor removed', async () => {
    const id = await createVolume(bench.driver);
    const folder = await bench.driver.folder('behind-link');
    await fs.writeFile(path.join(folder, 'file'), 'mine');
    const link = await bench.driver.target('link');
    await fs.symlink(folder, link);
    await call(id, link);
    expect(await fs.readFile(path.join(folder, 'file'), 'utf8')).toBe('mine');
    expect((await fs.lstat(link)).isSymbolicLink()).toBe(true);
  });

  test('UP4 one of two targets: the other stays', async () => {
    const capability = mountCapability({ mode: 'MULTI_NODE_MULTI_WRITER' });
    const used = await published(capability);
    const second = { ...used, target: await bench.driver.target(`${used.id}-second`) };
    await publish(bench.driver, second);
    expect(await call(used.id, used.target)).toBe('OK');
    expect(await bench.host.mounts.at(second.target)).not.toBeNull();
    await dispose(bench.driver, second);
  });

  test('UP5 an unknown volume: OK; NOT_FOUND with --strict', async () => {
    const target_path = await bench.driver.target('up5');
    expect(await call('unknown', target_path)).toBe('OK');
    const { csi } = await bench.start({ strict: true });
    const unpublish = (volume_id: string) => outcome(csi.NodeUnpublishVolume({ volume_id, target_path }));
    expect(await unpublish('unknown')).toBe('NOT_FOUND');
    const { volume } = await csi.CreateVolume({ name: 'v', volume_capabilities: [mountCapability()] });
    expect(await unpublish(volume?.volume_id ?? '')).toBe('OK');
  });

  test('UP6 the target of another volume: refused, and that stays published', async () => {
    const used = await published();
    const other = await createVolume(bench.driver);
    expect(await call(other, used.target)).toBe('FAILED_PRECONDITION');
    expect(await bench.host.mounts.at(used.target)).not.toBeNull();
  });

  test('an inline volume lives from publish to unpublish', async () => {
    const volume_id = 'csi-inline';
    const target_path = await bench.driver.target('inline');
    const request = {
      volume_id,
      target_path,
      volume_capability: mountCapability(),
      volume_context: { 'csi.storage.k8s.io/ephemeral': 'true', size: '64Mi' },
    };
    expect(await outcome(bench.csi.NodePublishVolume(request))).toBe('OK');
    expect(await outcome(bench.csi.NodePublishVolume(request))).toBe('OK');
    expect(await bench.host.mounts.at(target_path)).not.toBeNull();
    expect([await call(volume_id, target_path), await call(volume_id, target_path)]).toEqual(['OK', 'OK']);
    await expect(fs.lstat(target_path)).rejects.toThrow('ENOENT');
    expect(await outcome(bench.csi.ControllerGetVolume({ volume_id }))).toBe('NOT_FOUND');
  });
});
