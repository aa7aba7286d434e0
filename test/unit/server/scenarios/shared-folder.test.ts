import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { probe, useScenarioDrivers } from '../../../support/scenario-driver';
import { until } from '../../../support/until';

const drivers = useScenarioDrivers();

describe('a shared folder that cannot be written', () => {
  it('keeps nobody from letting go, and from switching once it can', async () => {
    const driver = await drivers.withSpec(
      '  rules: [{name: h, match: {rpc: Probe}, when: {times: 2}, then: [{hang: {until: release}}]}]',
    );
    const { scenarios, engine } = driver.driver;
    const lock = path.join(driver.dataDir, 'scenarios', '.switches.json.lock');
    await fs.mkdir(lock);
    const hung = async (letGo: () => Promise<unknown>) => {
      const answer = probe(driver);
      await until('the call hangs', () => engine.held.size > 0);
      await expect(letGo()).rejects.toThrow(/done in this process; the others cannot be told.*EISDIR/);
      expect(await answer).toBe('OK');
    };
    await hung(() => scenarios.release());
    await hung(() => driver.driver.reset());
    await fs.rmdir(lock);
    await scenarios.disarm('test');
    expect(scenarios.list()).toMatchObject([{ name: 'test', armed: false, fired: 0 }]);
  });
});
