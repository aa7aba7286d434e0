import { createMemoryHost } from '../../../src/host/memory';
import { Timeline } from '../../../src/journal/timeline';
import { verify } from '../../../src/scenarios/verdict/verify';
import { VirtualClock } from '../../../src/util/virtual-clock';
import { TestDriver } from '../../support/driver';

it('a verdict that waits for nothing is there at once: following ends also between two looks', async () => {
  // Time stands still, so that a look which sleeps once more never ends.
  const clock = new VirtualClock();
  const driver = await TestDriver.start({ backend: 'memory', host: createMemoryHost(), clock });
  try {
    const { processName: process, journal } = driver.driver;
    const timeline = new Timeline({ folder: `${driver.dataDir}/journal`, clock, live: { process, journal } });
    const { results } = await verify({ expectations: [], timeline, clock, waitMs: 0 });
    expect(results).toEqual([]);
  } finally {
    await driver.close();
  }
});
