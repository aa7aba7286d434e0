// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { type FakeCsi, type ScenarioSpec, type StepSpec, startFakeCsi } from '../../../src';

let csi: FakeCsi;

beforeEach(async () => {
  csi = await startFakeCsi();
});

afterEach(() => csi.stop());

const BUSY: ScenarioSpec = {
  apiVersion: 'fake-csi/v1',
  kind: 'Scenario',
  metadata: { name: 'busy' },
  spec: { rules: [{ name: 'probe', match: { rpc: 'Probe' }, then: [{ error: 'UNAVAILABLE' }] }] },
};

const answer = () =>
  csi.client.Probe().then(
    () => 'OK',
    ({ codeName }) => codeName,
  );

test('a rule as an object acts until it is removed', async () => {
  const rule = await csi.rule({
    match: { rpc: 'Probe' },
    then: [{ error: { code: 'ABORTED', message: 'no' } }],
  });
  await expect(csi.client.Probe()).rejects.toThrow('[scenario rule-1: rule rule, 1] no');
  expect(rule.fired).toBe(1);
  await rule.remove();
  await rule.remove();
  expect(await answer()).toBe('OK');
  expect(rule.fired).toBe(1);
});

test('a rule in one line, and its end by Symbol.asyncDispose', async () => {
  const rule = await csi.rule('Probe: 2*UNAVAILABLE -> ok');
  expect([await answer(), await answer(), await answer()]).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'OK']);
  await csi.reset();
  expect(rule.fired).toBe(0);
  expect(await answer()).toBe('UNAVAILABLE');
  await rule[Symbol.asyncDispose]();
  expect(await answer()).toBe('OK');
});

test('rules have different names, whoever put the others there', async () => {
  await csi.scenario({ ...BUSY, metadata: { name: 'rule-1' } });
  const rules = [await csi.rule('Probe: INTERNAL'), await csi.rule('Probe: ABORTED')];
  expect(rules.map(({ name }) => name)).toEqual(['rule-2', 'rule-3']);
});

test.each([
  [
    { match: { rpc: 'NodeStageVolum' }, then: [] },
    /rules\.0\.match\.rpc: unknown .*NodeStageVolum.*NodeStageVolume/,
  ],
  ['Probe 2*UNAVAILABLE', /^rule:1:\d+: /],
  ['Probe: 2*UNAVAILABEL', /did you mean "UNAVAILABLE"/],
])('what is wrong with %j is said with its place', async (rule, message) => {
  await expect(csi.rule(rule)).rejects.toThrow(message);
});

const FORMS: StepSpec[] = [
  { delay: '5s' },
  { delay: { uniform: ['1s', '2s'] } },
  { delay: { lognormal: { median: '1s', sigma: 0.5 }, max: '5s' } },
  { delay: { ramp: ['1s', '2s'], every: '1m' } },
  { error: 14 },
  { error: { code: 'ABORTED' } },
  { hang: '1m' },
  { hang: { until: 'deadline' } },
  { disk: 'missing' },
  { disk: { foreignFs: 'xfs' } },
  { disk: { truncated: '50%' } },
  { process: { closeSocket: true } },
  { set: { 'request.staging_target_path': '/x' } },
  { at: 'after', respond: { merge: {} } },
];

test.each(FORMS)('what the types allow is what the language takes: %j', async (step) => {
  const destructive = JSON.stringify(step).includes('truncated');
  const rule = await csi.rule({ match: { rpc: 'NodeStageVolume' }, destructive, then: [step] });
  await rule.remove();
});

test('a scenario is disarmed, armed again from the beginning, and replaced by one of its name', async () => {
  const scenario = await csi.scenario(BUSY);
  expect(await answer()).toBe('UNAVAILABLE');
  await scenario.disarm();
  expect(await answer()).toBe('OK');
  await scenario.arm();
  expect(await answer()).toBe('UNAVAILABLE');
  expect(scenario.fired).toBe(2);
  await csi.scenario({ ...BUSY, spec: { rules: [{ sequence: 'INTERNAL' }] } });
  expect(await answer()).toBe('INTERNAL');
});

test('scenarios come as objects, as text of several documents, as files and as folders', async () => {
  const folder = await csi.folder('given');
  const text = (name: string) => JSON.stringify({ ...BUSY, metadata: { name } });
  writeFileSync(path.join(folder, 'a.yaml'), text('a'));
  writeFileSync(path.join(folder, 'b.yml'), `${text('b')}\n---\n${text('c')}\n`);
  expect((await csi.scenario(folder)).names).toEqual(['a', 'b', 'c']);
  expect((await csi.scenario(path.join(folder, 'b.yml'))).names).toEqual(['b', 'c']);
  expect((await csi.scenario(text('d'))).names).toEqual(['d']);
  await expect(csi.scenario('apiVersion: fake-csi/v1\nkind: Scenari\n')).rejects.toThrow(
    /^scenario:2:7: kind: expected Scenario/m,
  );
});

test('scenarios that a driver is started with are armed before its first call, and can be taken out', async () => {
  const other = await startFakeCsi({ scenario: [BUSY, { ...BUSY, metadata: { name: 'more' } }] });
  try {
    await expect(other.client.Probe()).rejects.toThrow('[scenario busy: rule probe, 1]');
    const scenario = await other.scenario(BUSY);
    await scenario.remove();
    await expect(other.client.Probe()).rejects.toThrow('[scenario more: rule probe, 1]');
  } finally {
    await other.stop();
  }
});

test('a call that hangs is let go by release, and by the end of its rule', async () => {
  const rule = await csi.rule({ match: { rpc: 'Probe' }, then: [{ hang: 'release' }] });
  const first = answer();
  await rule.waitForFire();
  expect(csi.calls({ rpc: 'Probe' })).toMatchObject([{ pending: true }]);
  expect(await csi.release()).toBe(1);
  expect(await first).toBe('OK');
  const second = answer();
  await rule.waitForFire({ times: 2 });
  await rule.remove();
  expect(await second).toBe('OK');
});

test('a rule that does not fire says why when it is waited for', async () => {
  const rule = await csi.rule({
    name: 'other-node',
    match: { rpc: 'Probe', node: 'worker-*' },
    sequence: 'UNAVAILABLE',
  });
  await csi.client.Probe();
  await expect(rule.waitForFire({ within: '20ms' })).rejects.toThrow(
    /rule rule-1\/other-node fired 0 of 1 times within 20ms\nnear misses:\n {2}rule other-node did not fire: node was "?node-1"?, wanted "worker-\*" \(call 1\)/,
  );
});
