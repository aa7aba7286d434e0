import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import {
  blockCapability,
  createVolume,
  mountCapability,
  publish,
  release,
  stage,
  use,
} from '../support/lifecycle';
import { conformance, outcome } from './harness';

conformance('NodeUnstageVolume', (bench) => {
  const call = (volume_id: string, staging_target_path: string) =>
    outcome(bench.csi.NodeUnstageVolume({ volume_id, staging_target_path }));

  test('NU1 never staged; again after success; another path; a path that is not there: OK each', async () => {
    const used = await stage(bench.driver, await createVolume(bench.driver));
    const never = await createVolume(bench.driver);
    const other = await bench.driver.folder('nu1-other');
    expect(await call(never, await bench.driver.folder('nu1-never'))).toBe('OK');
    expect(await call(never, path.join(other, 'not-there'))).toBe('OK');
    expect(await call(used.id, other)).toBe('OK');
    expect(await bench.host.mounts.at(used.staging)).not.toBeNull();
    expect([await call(used.id, used.staging), await call(used.id, used.staging)]).toEqual(['OK', 'OK']);
    expect(await bench.host.mounts.at(used.staging)).toBeNull();
  });

  test('NU1 another path while the volume is published: OK, nothing is torn down', async () => {
    const used = await use(bench.driver);
    expect(await call(used.id, await bench.driver.folder('nu1-elsewhere'))).toBe('OK');
    expect(await bench.host.mounts.at(used.staging)).not.toBeNull();
    expect(await bench.host.mounts.at(used.target)).not.toBeNull();
    await bench.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await release(bench.driver, used);
  });

  test('NU2 an unknown volume: OK; NOT_FOUND with --strict', async () => {
    const folder = await bench.driver.folder('nu2');
    expect(await call('unknown', folder)).toBe('OK');
    const { csi } = await bench.start({ strict: true });
    const unstage = (volume_id: string) =>
      outcome(csi.NodeUnstageVolume({ volume_id, staging_target_path: folder }));
    expect(await unstage('unknown')).toBe('NOT_FOUND');
    const { volume } = await csi.CreateVolume({ name: 'v', volume_capabilities: [mountCapability()] });
    expect(await unstage(volume?.volume_id ?? '')).toBe('OK');
  });

  test.each([
    ['mount', mountCapability()],
    ['block', blockCapability()],
  ])(
    'NU3 while a %s volume is published: FAILED_PRECONDITION, nothing is torn down',
    async (_what, capability) => {
      const used = await use(bench.driver, { capability });
      expect(await call(used.id, used.staging)).toBe('FAILED_PRECONDITION');
      expect(await bench.host.mounts.at(used.target)).not.toBeNull();
      await publish(bench.driver, used);
      await bench.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
      expect(await call(used.id, used.staging)).toBe('OK');
      await release(bench.driver, used);
    },
  );

  test('NU4 after success: the staging folder is still there, its content gone', async () => {
    const used = await stage(bench.driver, await createVolume(bench.driver));
    if (bench.target.real) await fs.writeFile(path.join(used.staging, 'file'), 'x');
    expect(await call(used.id, used.staging)).toBe('OK');
    expect((await fs.stat(used.staging)).isDirectory()).toBe(true);
    expect(await fs.readdir(used.staging)).toEqual([]);
  });

  test('NU4 staged again: what was written is there again', async () => {
    if (!bench.target.real) return;
    const used = await stage(bench.driver, await createVolume(bench.driver));
    await fs.writeFile(path.join(used.staging, 'file'), 'kept');
    await call(used.id, used.staging);
    await stage(bench.driver, used.id);
    expect(await fs.readFile(path.join(used.staging, 'file'), 'utf8')).toBe('kept');
    await release(bench.driver, used);
  });

  test('NU5 foreign files in a folder that was never staged stay', async () => {
    const id = await createVolume(bench.driver);
    const folder = await bench.driver.folder('nu5');
    await fs.writeFile(path.join(folder, 'foreign'), 'x');
    expect(await call(id, folder)).toBe('OK');
    expect(await fs.readdir(folder)).toEqual(['foreign']);
  });
});
