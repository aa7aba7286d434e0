import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { allCases } from '../../../src/conformance/cases';
import { runCli, useServing } from '../../support/cli';

jest.setTimeout(180_000);

const serving = useServing();
const conformance = (...words: string[]) => runCli(['conformance', ...words]);
const endpoint = () => ['--endpoint', `unix://${serving.socket}`];

let folder: string;
beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(tmpdir(), 'fc-command-'));
});
afterAll(() => fs.rm(folder, { recursive: true, force: true }));

const file = async (name: string, text: string) => {
  await fs.writeFile(path.join(folder, name), text);
  return path.join(folder, name);
};

test('a driver at an endpoint: a table, a closing line, exit code 0', async () => {
  const { code, out, err } = await conformance(...endpoint(), '--rpc', 'NodePublishVolume', '--case', 'NP05');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^fake\.csi\.test /);
  expect(out).toMatch(/^NP05 +Node\.NodePublishVolume +must +passed +the same target, the other readonly/m);
  expect(out).toMatch(/\n1 passed, 0 failed, 0 not applicable\n$/);
});

test('our own driver, where no endpoint is given, with what it is told to be', async () => {
  const few = ['--capabilities=-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES'];
  const { code, out } = await conformance(...few, '--case', 'D02', '--case', 'D01', '--case', 'E03');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^D01 .* not applicable .*\[DeleteVolume|^D01 .* not applicable .*PUBLISH_UNPUBLISH_VOLUME\]/m,
  );
  expect(out).toMatch(/\n2 passed, 0 failed, 1 not applicable\n$/);
});

test('a failure: exit code 1, what was called, expected and found, and the same as JSON and JUnit', async () => {
  const hints = await file('hints.yaml', 'slowSnapshot: {readyAfter: 0s}\n');
  const junit = path.join(folder, 'out.xml');
  const words = [...endpoint(), '--hints', hints, '--case', 'S03', '--case', 'T13'];
  const text = await conformance(...words, '--junit', junit);
  expect(text.code).toBe(1);
  expect(text.out).toMatch(
    /\n {2}called {4}CreateSnapshot .*\n {2}expected {2}.*CreateSnapshot\)\n {2}found /,
  );
  expect(text.out).toMatch(/\n0 passed, 1 failed, 1 not applicable\n$/);
  const xml = await fs.readFile(junit, 'utf8');
  expect(xml).toContain('tests="2" failures="1" errors="0" skipped="1"');
  expect(xml).toMatch(/<failure message="expected /);
  const json = await conformance(...words, '--json');
  expect([json.code, JSON.parse(json.out)]).toEqual([
    1,
    expect.objectContaining({
      driver: expect.objectContaining({ name: 'fake.csi.test' }),
      counts: { passed: 0, failed: 1, notApplicable: 1, notRun: 0 },
      cases: [
        expect.objectContaining({ id: 'T13', status: 'not applicable' }),
        expect.objectContaining({
          id: 'S03',
          status: 'failed',
          called: expect.stringContaining('CreateSnapshot'),
        }),
      ],
    }),
  ]);
});

test('--skip leaves a case out', async () => {
  const { code, out } = await conformance('--rpc', 'ListSnapshots', '--skip', 'y01', '--skip', 'Y05');
  expect(code).toBe(0);
  expect([...out.matchAll(/^(Y\d+) /gm)].map(([, id]) => id)).toEqual(
    allCases.map(({ id }) => id).filter((id) => /^Y/.test(id) && !['Y01', 'Y05'].includes(id)),
  );
});

test('--list shows every case and asks nobody', async () => {
  const { code, out } = await conformance('--list');
  expect(code).toBe(0);
  for (const { id } of allCases) expect(out).toMatch(new RegExp(`^${id} `, 'm'));
});

test('nobody there: exit code 3 and one line', async () => {
  const { code, err } = await conformance('--endpoint', `unix://${folder}/nobody.sock`, '--timeout', '500ms');
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(/^fake-csi: unix:\/\/.*nobody\.sock: expected a CSI driver.*\n$/),
  ]);
});

test.each([
  [['--case', 'XX'], 2, /--case XX: no case of this id/],
  [['--skip', 'XX'], 2, /--skip XX: no case of this id/],
  [['--rpc', 'XX'], 2, /--rpc XX: no case of this RPC/],
  [['--size', 'big'], 2, /--size: expected a size/],
  [['--timeout', 'soon'], 2, /--timeout: expected a duration/],
  [['--parameters', 'x'], 2, /--parameters: expected key=value/],
  [['--controller-endpoint', 'unix:///a.sock'], 2, /only beside --endpoint/],
  [['--endpoint', 'unix:///a.sock', '--backend', 'loop'], 2, /of our own driver/],
  [['--endpoint', 'tcp://a'], 1, /expected unix:\/\//],
  [['--hints', '/absent'], 1, /--hints \/absent: expected a file/],
])('%j: exit code %d', async (words, expected, message) => {
  const { code, err } = await conformance(...words);
  expect([code, err]).toEqual([expected, expect.stringMatching(message)]);
});

test('a hint that nobody knows is an error', async () => {
  const hints = await file('wrong.yaml', 'slowSnap: {a: b}\n');
  const { code, err } = await conformance('--hints', hints);
  expect([code, err]).toEqual([1, expect.stringContaining('unknown hint "slowSnap"')]);
});
