import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { allCases } from '../../../src/conformance/cases';
import { connect } from '../../../src/conformance/connection';
import { closingLine, failuresText } from '../../../src/conformance/report';
import { type Run, runCases } from '../../../src/conformance/run';
import { definitions } from '../../support/driver';
import { SloppyDriver } from '../../support/sloppy-driver';

jest.setTimeout(180_000);

let folder: string;
let driver: SloppyDriver;
let run: Run;

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(tmpdir(), 'fc-sloppy-'));
  driver = await SloppyDriver.start(folder);
  const connection = connect({ socket: driver.socket }, definitions());
  const targets = path.join(folder, 'targets');
  await fs.mkdir(targets);
  run = await runCases({
    connection,
    cases: allCases,
    hints: {},
    folder: targets,
    runId: 'sloppy',
    socket: driver.socket,
    hasControllerSocket: false,
    timeoutMs: 10_000,
    sizeBytes: 2n ** 26n,
    now: () => performance.now(),
  });
  connection.close();
});
afterAll(async () => {
  driver.stop();
  await fs.rm(folder, { recursive: true, force: true });
});

const failed = () => run.results.filter(({ status }) => status === 'failed').map((result) => result.case.id);

test.each([
  ['T01', 'answers UNKNOWN for what it does not have'],
  ['T02', 'gives no reasons'],
  ['T03', 'sends details'],
  ['T05', 'takes names of any length'],
  ['T07', 'takes maps of any size'],
  ['T10', 'takes secrets of any name'],
  ['T19', 'counts bytes in doubles'],
  ['I01', 'has a name with an underscore'],
  ['C03', 'takes negative sizes'],
  ['C04', 'takes a range of nothing'],
  ['C06', 'does not look at the limit'],
  ['C09', 'takes capabilities without an access mode'],
  ['C10', 'takes capabilities without an access type'],
  ['C15', 'knows a volume by its name alone'],
  ['C23', 'leaves requirements of topology alone'],
  ['C29', 'leaves mutable parameters alone'],
  ['C31', 'leaves sources alone'],
  ['D02', 'deletes what is published'],
  ['D03', 'cannot delete twice'],
  ['V01', 'confirms everything'],
  ['L01', 'takes a negative max_entries'],
  ['L02', 'makes no pages'],
  ['E01', 'expands by nothing'],
  ['E02', 'expands what is not there'],
  ['E03', 'tells the size that was asked for'],
  ['E08', 'asks for a NodeExpandVolume that it does not have'],
  ['NP03', 'publishes what is not there'],
  ['NP05', 'does not compare readonly'],
  ['NP06', 'does not compare capabilities'],
  ['NP07', 'publishes a single writer twice'],
  ['NP12', "makes the CO's folders"],
  ['NP13', 'has a folder for raw block access'],
  ['NP15', 'publishes for any capability'],
  ['UP3', "removes others' files"],
  ['NG4', 'has more bytes used and available than there are'],
  ['NI2', 'tells a topology that it does not advertise'],
])('%s finds the sloppy driver, which %s', (id) => {
  expect(failed()).toContain(id);
});

test('what it does right, and what it does not have, is not held against it', () => {
  const outcome = Object.fromEntries(run.results.map((result) => [result.case.id, result.status]));
  expect(outcome).toMatchObject({
    C02: 'passed',
    C07: 'passed',
    C22: 'passed',
    I08: 'passed',
    NP08: 'passed',
    UP2: 'passed',
    UP5: 'passed',
    P01: 'not applicable',
    S01: 'not applicable',
    NS3: 'not applicable',
    GC01: 'not applicable',
    SM01: 'not applicable',
  });
});

test('a failure tells the call, what was expected by which section, and what was found', () => {
  expect(failuresText(run.results)).toMatch(
    /I01 Identity\.GetPluginInfo: .*\n {2}called {4}GetPluginInfo \{\}\n {2}expected {2}letters.*\(CSI 1\.12, GetPluginInfo\)\n {2}found {5}sloppy_driver/,
  );
  expect(closingLine(run.results)).toMatch(/^\d+ passed, \d\d failed, \d\d not applicable$/);
});

test('nothing of it stays in the folder for targets', async () => {
  expect(await fs.readdir(path.join(folder, 'targets'))).toEqual([]);
});
