import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { junitXml } from '../../../src/cli/conformance/junit';
import { allCases } from '../../../src/conformance/cases';
import { connect } from '../../../src/conformance/connection';
import { closingLine, goneText, resultsTable } from '../../../src/conformance/report';
import { type Result, runCases } from '../../../src/conformance/run';
import { definitions } from '../../support/driver';
import { SloppyDriver } from '../../support/sloppy-driver';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(tmpdir(), 'fc-gone-'));
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

/** Four cases of which the sloppy driver passes the first; then it ends, as if the case after it had brought it down. */
async function runWith(comeBack: boolean) {
  const cases = ['C14', 'C11', 'C05', 'C14'].map((id) => allCases.find((one) => one.id === id) ?? fail(id));
  let driver = await SloppyDriver.start(folder);
  const connection = connect({ socket: driver.socket }, definitions());
  let ended = 0;
  const told = ({ case: { id } }: Result) => {
    if (id !== 'C14' || ended++ > 0) return;
    driver.stop();
  };
  const returning = async () => {
    while (ended === 0) await new Promise((resolve) => setImmediate(resolve));
    await fs.rm(driver.socket, { force: true });
    driver = await SloppyDriver.start(folder);
  };
  const [run] = await Promise.all([
    runCases({
      connection,
      cases,
      hints: {},
      folder,
      runId: 'gone',
      socket: driver.socket,
      hasControllerSocket: false,
      timeoutMs: comeBack ? 20_000 : 300,
      sizeBytes: 2n ** 26n,
      now: () => performance.now(),
      told,
    }),
    comeBack ? returning() : undefined,
  ]);
  connection.close();
  driver.stop();
  return run.results;
}

function fail(id: string): never {
  throw new Error(`no case ${id}`);
}

test('a driver that ends and does not come back: the rest is not run, and it is said since when', async () => {
  const results = await runWith(false);
  expect(results.map(({ status }) => status)).toEqual(['passed', 'failed', 'not run', 'not run']);
  expect(closingLine(results)).toBe('1 passed, 1 failed, 0 not applicable, 2 not run');
  expect(goneText(results)).toMatch(/^Nobody answers since C11: .*--skip C11/);
  expect(resultsTable(results)).toMatch(/^C05 .* not run .*\[no answer since C11\]/m);
  expect(junitXml('x', results, '2026-01-01T00:00:00Z')).toContain(
    'tests="4" failures="1" errors="0" skipped="2"',
  );
});

test('one that comes back is asked for the rest', async () => {
  const results = await runWith(true);
  expect(results.at(-1)?.status).toBe('passed');
  expect(results.filter(({ status }) => status === 'not run')).toEqual([]);
  expect(goneText(results)).toBeUndefined();
});
