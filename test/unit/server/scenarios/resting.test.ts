import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { mountCapability } from '../../../support/lifecycle';
import { eventSeen, scenarioText, useScenarioDrivers } from '../../../support/scenario-driver';

const drivers = useScenarioDrivers();
const failing = (code: string) =>
  `  rules: [{name: r, match: {rpc: CreateVolume}, then: [{error: {code: ${code}, message: m}}]}]`;

type Started = Awaited<ReturnType<typeof drivers.start>>;

const create = (driver: Started, parameters: Record<string, string> = {}) =>
  driver.csi
    .CreateVolume({
      name: `v-${JSON.stringify(parameters)}`,
      volume_capabilities: [mountCapability()],
      parameters,
    })
    .then(
      () => 'OK',
      (error: { codeName: string }) => error.codeName,
    );

const stateOf = (driver: Started) =>
  driver.driver.scenarios.list().map(({ name, armed, file }) => ({ name, armed, file: path.basename(file) }));

async function galleryOf(text = scenarioText('broken', failing('INTERNAL'))): Promise<string> {
  const folder = await drivers.folder();
  await fs.writeFile(path.join(folder, 'broken.yaml'), text);
  return folder;
}

describe('a gallery of scenarios', () => {
  it('is loaded and acts on nothing but the volumes that name one of it', async () => {
    const driver = await drivers.start({ gallery: [await galleryOf()] });
    expect(stateOf(driver)).toEqual([{ name: 'broken', armed: false, file: 'broken.yaml' }]);
    expect(await create(driver)).toBe('OK');
    expect(await create(driver, { scenario: 'broken' })).toBe('INTERNAL');
  });

  it('has scenarios that can be armed, and disarmed again', async () => {
    const driver = await drivers.start({ gallery: [await galleryOf()] });
    await driver.driver.scenarios.arm('broken');
    expect(await create(driver)).toBe('INTERNAL');
    await driver.driver.scenarios.disarm('broken');
    expect(await create(driver)).toBe('OK');
  });

  it('gives way to a file of the same name that this process was started with', async () => {
    const folder = await drivers.folder();
    const file = path.join(folder, 'mine.yaml');
    await fs.writeFile(file, scenarioText('broken', failing('ABORTED')));
    const driver = await drivers.start({ scenarios: [file], gallery: [await galleryOf()] });
    expect(stateOf(driver)).toEqual([{ name: 'broken', armed: true, file: 'mine.yaml' }]);
    expect(driver.driver.scenarios.problems()).toEqual([]);
    expect(await create(driver)).toBe('ABORTED');
  });

  it('gives way to a scenario that is put, and has its own again when that is removed', async () => {
    const driver = await drivers.start({ gallery: [await galleryOf()] });
    await driver.driver.scenarios.put(scenarioText('broken', failing('ABORTED')));
    expect(await create(driver)).toBe('ABORTED');
    await driver.driver.scenarios.remove('broken');
    expect(await create(driver)).toBe('OK');
    expect(await create(driver, { scenario: 'broken' })).toBe('INTERNAL');
  });

  it('is read again when it changes', async () => {
    const gallery = await galleryOf();
    const driver = await drivers.start({ gallery: [gallery] });
    await fs.writeFile(path.join(gallery, 'broken.yaml'), scenarioText('broken', failing('ABORTED')));
    await eventSeen(driver, 'scenarioReloaded');
    expect(await create(driver, { scenario: 'broken' })).toBe('ABORTED');
    expect(await create(driver)).toBe('OK');
  });

  it('does not keep a driver from starting when it is broken, and says what is wrong', async () => {
    const driver = await drivers.start({ gallery: [await galleryOf('rules: [')] });
    expect(driver.driver.scenarios.problems()).toMatchObject([{ severity: 'error' }]);
    expect(await create(driver)).toBe('OK');
  });

  it('has to be there', async () => {
    await expect(drivers.start({ gallery: ['/nowhere'] })).rejects.toThrow(
      '--gallery /nowhere: no such file or folder',
    );
  });

  it('has no two scenarios of one name', async () => {
    const gallery = await galleryOf();
    await fs.writeFile(path.join(gallery, 'twin.yaml'), scenarioText('broken', failing('ABORTED')));
    const driver = await drivers.start({ gallery: [gallery] });
    expect(driver.driver.scenarios.problems()).toMatchObject([
      { message: expect.stringContaining('is used already by') },
    ]);
  });
});
