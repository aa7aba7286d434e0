import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { ScenarioProblems } from '../../../../src/scenarios/library/library';
import {
  eventSeen,
  failing,
  probe,
  scenarioText,
  useScenarioDrivers,
} from '../../../support/scenario-driver';

const drivers = useScenarioDrivers();

describe('scenario files', () => {
  it('are read again when they change; a broken edit keeps the last good text and says so', async () => {
    const driver = await drivers.withSpec(failing('INTERNAL'));
    expect(await probe(driver)).toBe('INTERNAL');
    await fs.writeFile(driver.file, scenarioText('test', failing('ABORTED')));
    await eventSeen(driver, 'scenarioReloaded');
    expect(await probe(driver)).toBe('ABORTED');
    await fs.writeFile(driver.file, scenarioText('test', failing('ABORTD')));
    expect(await eventSeen(driver, 'scenarioReloadFailed')).toMatchObject({
      details: { problems: [expect.stringContaining('did you mean')] },
    });
    expect(await probe(driver)).toBe('ABORTED');
    expect(driver.driver.scenarios.failures).toBe(1);
    expect(driver.driver.scenarios.list()).toMatchObject([
      { name: 'test', problems: [{ severity: 'error' }] },
    ]);
  });

  it('are found again when a mounted ConfigMap is swapped under them', async () => {
    const root = await drivers.folder();
    const version = async (name: string, code: string) => {
      await fs.mkdir(path.join(root, name));
      await fs.writeFile(path.join(root, name, 's.yaml'), scenarioText('test', failing(code)));
      await fs.symlink(name, path.join(root, '..data.new'));
      await fs.rename(path.join(root, '..data.new'), path.join(root, '..data'));
    };
    await version('..2026_1', 'INTERNAL');
    await fs.symlink('..data/s.yaml', path.join(root, 's.yaml'));
    const driver = await drivers.start({ scenarios: [root] });
    expect(await probe(driver)).toBe('INTERNAL');
    await version('..2026_2', 'ABORTED');
    await eventSeen(driver, 'scenarioReloaded');
    expect(await probe(driver)).toBe('ABORTED');
  });

  it.each([
    ['that is broken', 'rules: [', 'scenario.yaml:'],
    ['that is none', undefined, 'no such file or folder'],
  ])('one %s keeps the driver from starting, in one line', async (_what, text, message) => {
    const file = path.join(await drivers.folder(), 'scenario.yaml');
    if (text !== undefined) await fs.writeFile(file, text);
    await expect(drivers.start({ scenarios: [file] })).rejects.toThrow(message);
  });

  it('a broken one in the shared folder does not', async () => {
    const dataDir = await drivers.folder();
    await fs.mkdir(path.join(dataDir, 'scenarios'));
    await fs.writeFile(path.join(dataDir, 'scenarios', 'x.yaml'), 'rules: [');
    const driver = await drivers.start({ dataDir });
    expect(await probe(driver)).toBe('OK');
    expect(driver.driver.scenarios.problems()).toHaveLength(1);
  });

  it('a name that is taken is refused with the other file', async () => {
    const driver = await drivers.withSpec(failing('INTERNAL'));
    await expect(driver.driver.scenarios.put(scenarioText('test', failing('ABORTED')))).rejects.toThrow(
      ScenarioProblems,
    );
    expect(await probe(driver)).toBe('INTERNAL');
  });
});

describe('a name that leads nowhere', () => {
  it('is one wrong file: others beside it are read, and changes seen', async () => {
    const folder = await drivers.folder();
    await fs.writeFile(path.join(folder, 's.yaml'), scenarioText('test', failing('INTERNAL')));
    const driver = await drivers.start({ scenarios: [folder] });
    await fs.symlink('loop.yaml', path.join(folder, 'loop.yaml'));
    await fs.writeFile(path.join(folder, 's.yaml'), scenarioText('test', failing('ABORTED')));
    driver.driver.scenarios.refresh();
    expect(await probe(driver)).toBe('ABORTED');
    expect(driver.driver.scenarios.problems()).toMatchObject([
      { file: path.join(folder, 'loop.yaml'), message: expect.stringContaining('ELOOP') },
    ]);
  });

  it('keeps a driver from starting with its own words', async () => {
    const folder = await drivers.folder();
    await fs.symlink('loop.yaml', path.join(folder, 'loop.yaml'));
    await expect(drivers.start({ scenarios: [folder] })).rejects.toThrow(ScenarioProblems);
  });
});
