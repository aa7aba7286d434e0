import { mkdtempSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createLinuxHost } from '../../src/host/linux';
import { TestDriver } from '../support/driver';
import { dispose, MIB, mountCapability, use } from '../support/lifecycle';

const ours = mkdtempSync(path.join(tmpdir(), 'fc-host-'));
const host = createLinuxHost({ stateDir: ours, cacheDir: path.join(ours, 'cache') });
afterAll(() => fs.rm(ours, { recursive: true, force: true }));

describe.each(['ext4', 'xfs', 'btrfs'] as const)('a %s volume', (fsType) => {
  let driver: TestDriver;
  beforeAll(async () => {
    driver = await TestDriver.start({ backend: 'loop', host });
  });
  afterAll(() => driver.close());

  it('keeps what is written to it, within its size', async () => {
    const capability = mountCapability({ fsType });
    const used = await use(driver, { capability, size: 320 * MIB });
    await fs.writeFile(path.join(used.target, 'hello'), 'world');
    expect(await fs.readFile(path.join(used.staging, 'hello'), 'utf8')).toBe('world');
    const stats = await driver.csi.NodeGetVolumeStats({ volume_id: used.id, volume_path: used.target });
    expect(Number(stats.usage[0]?.total)).toBeLessThanOrEqual(320 * MIB);
    expect(stats.volume_condition).toEqual({ abnormal: false, message: 'the volume is healthy' });
    await dispose(driver, used);
    await expect(fs.stat(used.target)).rejects.toThrow('ENOENT');
  });
});
