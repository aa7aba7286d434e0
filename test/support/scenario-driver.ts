import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createMemoryHost } from '../../src/host/memory';
import type { JournalEntry } from '../../src/journal/entry';
import { TestDriver, type TestDriverOptions } from './driver';

/** The text of a scenario whose `spec` is given, indented by two. */
export function scenarioText(name: string, spec: string): string {
  return `apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: ${name}}\nspec:\n${spec}\n`;
}

/** A spec that refuses every Probe with `code`. */
export const failing = (code: string): string =>
  `  rules: [{name: r, match: {rpc: Probe}, then: [{error: {code: ${code}, message: m}}]}]`;

/** The name of the code that a Probe is answered with. */
export const probe = (driver: TestDriver): Promise<string> =>
  driver.csi.Probe().then(
    () => 'OK',
    (error: { codeName: string }) => error.codeName,
  );

/** Drivers on the memory host with a scenario file each, gone after every test. */
export function useScenarioDrivers() {
  const drivers: TestDriver[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const driver of drivers.splice(0)) await driver.close();
    for (const folder of folders.splice(0)) await fs.rm(folder, { recursive: true, force: true });
  });

  const folder = async () => {
    const made = await fs.mkdtemp(path.join(tmpdir(), 'fake-csi-scenario-'));
    folders.push(made);
    return made;
  };
  const start = async (options: Partial<TestDriverOptions> = {}) => {
    const driver = await TestDriver.start({ backend: 'memory', host: createMemoryHost(), ...options });
    drivers.push(driver);
    return driver;
  };
  return {
    folder,
    start,
    /** The controller and a node of one machine, in two processes as far as they can tell, which share a data folder. */
    async pair() {
      const dataDir = await folder();
      const host = createMemoryHost();
      const controller = await start({ dataDir, host, profile: 'controller' });
      return { dataDir, host, controller, node: await start({ dataDir, host, profile: 'node' }) };
    },
    /** A driver with one scenario of the name `test`; `file` is where it stands. */
    async withSpec(spec: string, options: Partial<TestDriverOptions> = {}) {
      const file = path.join(await folder(), 'scenario.yaml');
      await fs.writeFile(file, scenarioText('test', spec));
      return Object.assign(await start({ scenarios: [file], ...options }), { file });
    },
  };
}

/** The answered entry of the newest call of a method. */
export function lastAnswer(driver: TestDriver, method: string) {
  const found = driver.driver.journal
    .entries()
    .filter(
      (entry): entry is Extract<JournalEntry, { type: 'answered' }> =>
        entry.type === 'answered' && entry.method === method,
    )
    .at(-1);
  if (!found) throw new Error(`no ${method} was answered`);
  return found;
}

/** The event, in the past or to come; the n-th of its name when `times` is given. */
export function eventSeen(driver: TestDriver, event: string, times = 1): Promise<JournalEntry> {
  let left = times;
  return driver.driver.journal.waitFor((entry) => {
    if (entry.type === 'event' && entry.event === event) left -= 1;
    return left === 0;
  });
}
