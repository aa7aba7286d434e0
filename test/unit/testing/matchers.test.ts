// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { type FakeCsi, startFakeCsi } from '../../../src';
import { matchers } from '../../../src/testing/jest';

let csi: FakeCsi;

beforeAll(async () => {
  csi = await startFakeCsi();
  await csi.rule({
    name: 'flaky',
    match: { rpc: 'Probe' },
    when: { nth: 1 },
    then: [{ error: { code: 'UNAVAILABLE', message: 'not yet' } }],
  });
  await csi.client.Probe().catch(() => undefined);
  await csi.client.Probe();
  await csi.client.NodeGetInfo();
});

afterAll(() => csi.stop());

const failure = (assertion: () => void): string => {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it should have failed');
};

test('toHaveReceived', () => {
  expect(csi).toHaveReceived('Probe');
  expect(csi).toHaveReceived({ rpc: ['Probe', 'NodeGetInfo'] }, 3);
  expect(csi).not.toHaveReceived('Node*', 2);
  expect(failure(() => expect(csi).toHaveReceived('Probe', 3))).toMatch(
    /^expected to have received {"rpc":"Probe"} 3 times, found 2\ncalls:\n {2}call 1 .*\n {2}call 2 .*$/,
  );
  expect(failure(() => expect(csi).not.toHaveReceived('NodeGetInfo'))).toMatch(
    /^expected not to have received/,
  );
  expect(failure(() => expect(csi).toHaveReceived('CreateVolume'))).toMatch(
    /found 0\nother calls that came:\n {2}call 1 .* Probe UNAVAILABLE .*\[rule-1\/flaky\].*not yet/,
  );
});

test('toHaveAnswered means OK unless it is told otherwise', () => {
  expect(csi).toHaveAnswered('Probe', 1);
  expect(csi).toHaveAnswered({ rpc: 'Probe', code: 'UNAVAILABLE' }, 1);
  expect(failure(() => expect(csi).toHaveAnswered({ rpc: 'NodeGetInfo', code: 'ABORTED' }))).toMatch(
    /found 0\ncalls of the same method:\n {2}call 3 .* NodeGetInfo OK/,
  );
});

test('toHaveFired', () => {
  expect(csi).toHaveFired('flaky');
  expect(csi).toHaveFired('rule-1/flaky', 1);
  expect(csi).not.toHaveFired('other');
  expect(failure(() => expect(csi).toHaveFired('flaky', 2))).toMatch(
    /^expected rule flaky to have fired 2 times, it fired 1 times\nrules that fired: rule-1\/flaky \(1\)\nnear misses:\n {2}rule flaky did not fire: when\.nth/,
  );
});

test('toHaveNoLeaks', async () => {
  await expect(csi).toHaveNoLeaks();
  const leaky = { ...(csi as object), calls: () => [], fires: () => new Map(), nearest: () => [] };
  const leaks = async () => ({ loops: [], mounts: ['/dev/loop3 at /mnt'], frozen: [] });
  const { pass, message } = await matchers.toHaveNoLeaks({ ...leaky, leaks });
  expect(pass).toBe(false);
  expect(message()).toBe('left behind:\n  mount /dev/loop3 at /mnt');
});

test('anything but a driver is refused', () => {
  expect(() => expect('csi').toHaveReceived('Probe')).toThrow('toHaveReceived: expected expect(csi)');
});
