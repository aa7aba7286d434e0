import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createMemoryHost } from '../../../src/host/memory';
import { TestDriver } from '../../support/driver';
import { createVolume, stage, use } from '../../support/lifecycle';

const drivers: TestDriver[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.close();
  for (const folder of folders.splice(0)) await fs.rm(folder, { recursive: true });
});

async function withScenario(spec: string): Promise<TestDriver> {
  const folder = await fs.mkdtemp(path.join(tmpdir(), 'fake-csi-scenario-'));
  const file = path.join(folder, 'scenario.yaml');
  await fs.writeFile(file, `apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: test}\nspec:\n${spec}`);
  const driver = await TestDriver.start({ backend: 'memory', host: createMemoryHost(), scenarios: [file] });
  drivers.push(driver);
  folders.push(folder);
  return driver;
}

describe('scenarios on a driver', () => {
  it('fails twice with DEADLINE_EXCEEDED, once with ABORTED, then succeeds', async () => {
    const driver = await withScenario(`
  rules:
  - name: slow
    match: {rpc: NodeStageVolume}
    sequence: "2*DEADLINE_EXCEEDED(backend \${volume.name} busy) -> 1*ABORTED -> ok"
`);
    const id = await createVolume(driver, { name: 'one' });
    await expect(stage(driver, id)).rejects.toMatchObject({
      codeName: 'DEADLINE_EXCEEDED',
      message: '[scenario test: rule slow, 1 of 2] backend one busy',
    });
    await expect(stage(driver, id)).rejects.toMatchObject({
      message: '[scenario test: rule slow, 2 of 2] backend one busy',
    });
    await expect(stage(driver, id)).rejects.toMatchObject({
      codeName: 'ABORTED',
      message: '[scenario test: rule slow, 1 of 1] injected by fake-csi',
    });
    await stage(driver, id);
  });

  it('does the work and loses the answer', async () => {
    const driver = await withScenario(`
  rules:
  - name: lose
    match: {rpc: NodeStageVolume}
    when: {per: volume, nth: 1}
    then: [{at: after}, {error: {code: DEADLINE_EXCEEDED}}]
`);
    const id = await createVolume(driver);
    await expect(stage(driver, id)).rejects.toMatchObject({ codeName: 'DEADLINE_EXCEEDED' });
    expect(driver.driver.env.node?.store.stage(id)).toBeDefined();
    await stage(driver, id);
  });

  it('says OK and mounts nothing', async () => {
    const driver = await withScenario(`
  rules:
  - name: lie
    match: {rpc: NodePublishVolume}
    then: [{at: instead}, {respond: {merge: {}}}]
`);
    const used = await use(driver);
    expect(driver.driver.env.node?.store.publication(used.target)).toBeUndefined();
  });
});
