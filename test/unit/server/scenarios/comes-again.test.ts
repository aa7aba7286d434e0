import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { eventSeen, failing, scenarioText, useScenarioDrivers } from '../../../support/scenario-driver';

const drivers = useScenarioDrivers();

describe('what comes again', () => {
  const short = scenarioText('again', `  expires: 50ms\n${failing('INTERNAL')}`);

  it('begins anew when its text is put again after its end', async () => {
    const driver = await drivers.start();
    await driver.driver.scenarios.put(short);
    await eventSeen(driver, 'scenarioExpired');
    await driver.driver.scenarios.put(short);
    await eventSeen(driver, 'scenarioExpired', 2);
  });

  it('begins anew when it is put after it was removed, and when its file comes back', async () => {
    const driver = await drivers.start();
    const { scenarios } = driver.driver;
    const file = path.join(driver.dataDir, 'scenarios', 'again.yaml');
    const since = () => Date.parse(driver.driver.engine.status()[0]?.armedAt ?? '');
    await scenarios.put(short);
    await eventSeen(driver, 'scenarioExpired');
    const first = since();
    await scenarios.remove('again');
    await scenarios.put(short);
    const second = since();
    expect(second).toBeGreaterThanOrEqual(first + 50);
    await eventSeen(driver, 'scenarioExpired', 2);
    await fs.unlink(file);
    scenarios.refresh();
    await fs.writeFile(file, short);
    scenarios.refresh();
    expect(since()).toBeGreaterThanOrEqual(second + 50);
  });

  it('rests when it is put and says so, whatever was switched before', async () => {
    const driver = await drivers.start();
    const { scenarios } = driver.driver;
    const text = (enabled: boolean) => scenarioText('rest', `  enabled: ${enabled}\n${failing('INTERNAL')}`);
    await scenarios.put(text(true));
    await scenarios.arm('rest');
    await scenarios.put(text(false));
    expect(scenarios.list()).toMatchObject([{ name: 'rest', armed: false }]);
  });
});
