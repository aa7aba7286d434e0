// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { AssertionError } from 'node:assert';
import { type FakeCsi, startFakeCsi } from '../../../src';

let csi: FakeCsi;

beforeEach(async () => {
  csi = await startFakeCsi();
});

afterEach(() => csi.stop());

async function createVolume(name: string, pvc?: string): Promise<string> {
  const { volume } = await csi.client.CreateVolume({
    name,
    volume_capabilities: [{ mount: {}, access_mode: { mode: 1 } }],
    parameters:
      pvc === undefined
        ? {}
        : { 'csi.storage.k8s.io/pvc/name': pvc, 'csi.storage.k8s.io/pvc/namespace': 'db' },
  });
  return volume?.volume_id ?? '';
}

const failure = (assertion: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(assertion).then(
    () => {
      throw new Error('it should have failed');
    },
    (error: Error) => {
      expect(error).toBeInstanceOf(AssertionError);
      return error.message;
    },
  );

test('calls are found by what a rule could match them by', async () => {
  const id = await createVolume('one', 'data-0');
  await createVolume('two', 'logs-0');
  await csi.client.DeleteVolume({ volume_id: id });
  await csi.client.Probe();
  expect(csi.calls().map(({ method }) => method)).toEqual([
    'CreateVolume',
    'CreateVolume',
    'DeleteVolume',
    'Probe',
  ]);
  expect(csi.calls({ rpc: ['Probe', 'Delete*'] })).toHaveLength(2);
  expect(csi.calls({ volume: id })).toHaveLength(2);
  expect(csi.calls({ pvc: 'db/data-*' }).map(({ method }) => method)).toEqual([
    'CreateVolume',
    'DeleteVolume',
  ]);
  expect(csi.calls({ pvc: 'data-*', rpc: 'DeleteVolume' })).toMatchObject([{ code: 'OK', volumeId: id }]);
  expect(() => csi.calls({ rpc: 'Prob' })).toThrow(/unknown .*Prob.*did you mean "Probe"/);
});

test('since a mark, a time or a reset, what came before does not count', async () => {
  await csi.client.Probe();
  const mark = csi.mark('begin');
  await csi.client.Probe();
  expect(csi.calls({ rpc: 'Probe', since: mark })).toHaveLength(1);
  expect(csi.calls({ since: new Date(Date.now() + 60_000) })).toEqual([]);
  await csi.expect({ rpc: 'Probe', since: mark }).exactly(1);
  await csi.reset();
  expect(csi.calls()).toEqual([]);
  await csi.expect({ rpc: 'Probe' }).never();
  await csi.client.Probe();
  await csi.expect({ rpc: 'Probe' }).exactly(1);
});

test('waitForCall gives a call that came, one that comes, and one when it is answered', async () => {
  await csi.client.Probe();
  expect(await csi.waitForCall({ rpc: 'Probe' })).toMatchObject({ call: 1, code: 'OK' });
  const coming = csi.waitForCall({ rpc: 'GetPluginInfo' });
  const rule = await csi.rule({ match: { rpc: 'GetPluginInfo' }, then: [{ hang: 'release' }] });
  const hung = csi.client.GetPluginInfo();
  expect(await coming).toMatchObject({ pending: true });
  const answered = csi.waitForCall({ rpc: 'GetPluginInfo', code: 'OK' });
  await rule.waitForFire();
  await csi.release();
  await hung;
  expect(await answered).toMatchObject({ pending: false, fired: ['rule-1/rule'] });
});

test('a call that does not come is missed with what came instead', async () => {
  await csi.client.Probe();
  expect(await failure(csi.waitForCall({ rpc: 'Probe', code: 'INTERNAL' }, { within: '10ms' }))).toMatch(
    /^no call {"rpc":"Probe","code":"INTERNAL"} came within 10ms\ncalls of the same method:\n {2}call 1 at .* Probe OK/,
  );
  expect(await failure(csi.waitForCall({ rpc: 'NodeGetInfo' }, { within: 10 }))).toMatch(
    /came within 10ms\nother calls that came:\n {2}call 1/,
  );
});

test('counts hold as they stand, and give the calls', async () => {
  await csi.client.Probe();
  await csi.client.Probe();
  expect(await csi.expect({ rpc: 'Probe' }).atLeast(2)).toMatchObject([{ call: 1 }, { call: 2 }]);
  await csi.expect({ rpc: 'Probe' }).exactly(2);
  await csi.expect({ rpc: 'Probe' }).atMost(2);
  await csi.expect({ rpc: 'NodeGetInfo' }).never();
  expect(await failure(csi.expect({ rpc: 'Probe' }).exactly(1))).toMatch(
    /^expected exactly 1 calls {"rpc":"Probe"}: 2 calls, wanted ==1\ncalls:\n {2}call 1 .*\n {2}call 2 /,
  );
  expect(await failure(csi.expect({ rpc: 'Probe' }).atMost(1))).toContain('2 calls, wanted <=1');
  expect(await failure(csi.expect({ rpc: 'Probe' }).never())).toContain('call 1 (Probe) came');
});

test('atLeast within a time is over as soon as it holds', async () => {
  const met = csi.expect({ rpc: 'Probe' }).atLeast(2).within('60s');
  await csi.client.Probe();
  await csi.client.Probe();
  expect(await met).toHaveLength(2);
});

test('what comes nearest is told when the time is up', async () => {
  await createVolume('v', 'data-0');
  const message = await failure(csi.expect({ rpc: 'CreateVolume', pvc: 'data-1' }).atLeast(1).within('20ms'));
  expect(message).toMatch(
    /near miss: call 1 \(CreateVolume\) does not count: volume\.pvc\.name was "data-0", wanted "data-1"/,
  );
});

test('never for a time looks at what comes from now on, and fails at once', async () => {
  await csi.client.Probe();
  await csi.expect({ rpc: 'Probe' }).never().for('20ms');
  const broken = failure(csi.expect({ rpc: 'Probe' }).never().for('60s'));
  await csi.client.Probe();
  expect(await broken).toMatch(/expected no calls {"rpc":"Probe"}: call 2 \(Probe\) came/);
  const exceeded = failure(csi.expect({ rpc: 'Probe' }).atMost(2).for('60s'));
  await csi.client.Probe();
  expect(await exceeded).toContain('3 calls, wanted <=2');
});

test('an order is kept by every volume that sees any of the calls', async () => {
  const id = await createVolume('v');
  const order = ['CreateVolume', { rpc: 'DeleteVolume' }] as const;
  expect(await failure(csi.expect().inOrder(order))).toContain('DeleteVolume has not come');
  const met = csi.expect({ volume: id }).inOrder(order).within('60s');
  await csi.client.DeleteVolume({ volume_id: id });
  await met;
  expect(await failure(csi.expect().inOrder(['DeleteVolume', 'CreateVolume']))).toMatch(
    /CreateVolume"}.*: DeleteVolume came after CreateVolume/,
  );
});

test('it spans a restart', async () => {
  const met = csi.expect({ rpc: 'Probe' }).atLeast(2).within('60s');
  await csi.client.Probe();
  await csi.restart();
  await csi.client.Probe();
  expect(await met).toHaveLength(2);
});

test('verify takes the whole language', async () => {
  const id = await createVolume('v');
  const verdict = await csi.verify([
    { rpc: 'CreateVolume', count: 1 },
    { eventually: { volume: id, state: 'created' } },
    { leak: { loops: 0, mounts: 0 } },
  ]);
  expect(verdict.results.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed']);
  const text = 'expect:\n  - {rpc: CreateVolume, count: 1}\n  - {fired: {rule: slow}}\n';
  expect(await failure(csi.verify(text))).toMatch(
    /✓ .*CreateVolume.*\n✗ .*rule slow never fired(.|\n)*failed: only 1 passed of 2/,
  );
  await expect(csi.verify('expect:\n  - {rpc: CreateVolum, count: 1}\n')).rejects.toThrow(/^expect:2:11: /);
  await expect(csi.verify([{ count: 'many' }])).rejects.toThrow(/expect\.0\.count: expected a count/);
});
