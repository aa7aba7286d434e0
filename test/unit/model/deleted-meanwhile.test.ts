import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createMemoryHost } from '../../../src/host/memory';
import { once } from '../../../src/util/once';
import { TestDriver } from '../../support/driver';
import { mountCapability } from '../../support/lifecycle';

/** Found by random play, once in forty thousand calls: a volume goes while somebody looks whether its bytes are there. */

let driver: TestDriver;
let id: string;
beforeEach(async () => {
  driver = await TestDriver.start({ host: createMemoryHost(), backend: 'memory' });
  const { volume } = await driver.csi.CreateVolume({ name: 'v', volume_capabilities: [mountCapability()] });
  id = volume?.volume_id ?? '';
});
afterEach(() => driver.close());

/** Keeps every thread for file operations busy, until told to let go: what asks the disk from now on is answered then. */
function occupyThreads(): () => void {
  const pipe = path.join(driver.dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  // Opening a pipe to read waits for somebody who writes.
  const readers = Array.from({ length: threads }, () => fs.promises.open(pipe, 'r'));
  return once(() => {
    const writer = fs.openSync(pipe, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
    void Promise.all(readers).then(async (handles) => {
      for (const handle of handles) await handle.close();
      fs.closeSync(writer);
    });
  });
}

/** What a question about volumes comes to when the one there is gets deleted before the disk has answered. */
async function whileDeleting<T>(ask: () => Promise<T>): Promise<T> {
  const { journal } = driver.driver;
  const seen = journal.lastCall;
  const gone = new Promise<void>((resolve) => {
    const watcher = fs.watch(path.join(driver.dataDir, 'volumes'), (_event, name) => {
      if (!name?.startsWith('.old-')) return;
      watcher.close();
      resolve();
    });
  });
  const letGo = occupyThreads();
  try {
    const answer = ask();
    answer.catch(() => undefined);
    await journal.waitFor((entry) => entry.type === 'received' && entry.call > seen);
    const deleted = driver.csi.DeleteVolume({ volume_id: id });
    deleted.catch(() => undefined);
    await gone;
    letGo();
    await deleted;
    return await answer;
  } finally {
    letGo();
  }
}

test('ControllerGetVolume of a volume that is deleted meanwhile is NOT_FOUND, and not in trouble', async () => {
  await expect(whileDeleting(() => driver.csi.ControllerGetVolume({ volume_id: id }))).rejects.toMatchObject({
    codeName: 'NOT_FOUND',
  });
});

test('ListVolumes leaves out what is deleted meanwhile', async () => {
  expect(await whileDeleting(() => driver.csi.ListVolumes())).toMatchObject({ entries: [] });
});
