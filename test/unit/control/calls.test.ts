// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { createVolume, use } from '../../support/lifecycle';
import { type Controlled, probe, raw, SCENARIO, startControlled } from './support';

let it_: Controlled;
beforeEach(async () => {
  it_ = await startControlled();
});
afterEach(() => it_.close());

const ask = (path: string, method = 'GET', body?: string, type = 'text/yaml') =>
  raw(
    { socketPath: it_.server.socket ?? '' },
    { path, method, ...(body !== undefined && { body, headers: { 'content-type': type } }) },
  );

describe('status, doctor and volumes', () => {
  it('tell what the driver is and can', async () => {
    const { driver, dataDir } = it_.test;
    expect(await it_.control.status()).toMatchObject({
      unreachable: [],
      processes: [
        {
          process: driver.processName,
          pid: process.pid,
          services: 'all',
          nodeId: 'node-1',
          backend: 'memory',
          dataDir,
          csiSocket: driver.socketPath,
          controlSocket: it_.server.socket,
          held: { delay: 0, hang: 0 },
          volumes: 0,
        },
      ],
    });
    const { abilities, leaks } = await it_.control.doctor();
    expect(abilities.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['mount', 'loop', 'filesystem ext4']),
    );
    expect(leaks).toEqual({ loops: [], mounts: [], frozen: [] });
  });

  it('show volumes by state, and one by its id', async () => {
    const created = await createVolume(it_.test, { name: 'first' });
    const used = await use(it_.test, { name: 'second' });
    expect(await it_.control.volumes()).toMatchObject([
      { id: created, name: 'first', state: 'created' },
      { id: used.id, name: 'second', state: 'published', targets: [{ path: used.target }] },
    ]);
    expect(await it_.control.volume(used.id)).toMatchObject({ name: 'second', attachedTo: ['node-1'] });
    await expect(it_.control.volume('a/b:c')).rejects.toMatchObject({
      status: 404,
      detail: expect.stringContaining('"a/b:c"'),
    });
  });
});

describe('the journal', () => {
  it('gives calls by their keys, the newest so many', async () => {
    await it_.control.putScenario(SCENARIO);
    const id = await createVolume(it_.test);
    await probe(it_);
    await probe(it_);
    expect((await it_.control.calls()).map(({ method }) => method)).toEqual([
      'CreateVolume',
      'Probe',
      'Probe',
    ]);
    expect(await it_.control.calls({ volume: id })).toMatchObject([{ method: 'CreateVolume', code: 'OK' }]);
    expect(await it_.control.calls({ rpc: ['Create*', 'Delete*'] })).toHaveLength(1);
    expect(await it_.control.calls({ code: 'UNAVAILABLE', limit: 1 })).toMatchObject([
      { method: 'Probe', fired: ['slow/busy'] },
    ]);
    expect(await it_.control.calls({ fired: 'busy' })).toHaveLength(2);
  });

  it('has marks to begin at', async () => {
    await probe(it_);
    const mark = await it_.control.mark('here');
    expect(mark).toMatchObject({ name: 'here', process: it_.test.driver.processName });
    await it_.test.csi.GetPluginInfo();
    expect((await it_.control.calls({ since: 'mark:here' })).map(({ method }) => method)).toEqual([
      'GetPluginInfo',
    ]);
    await expect(it_.control.calls({ since: 'mark:there' })).rejects.toMatchObject({
      status: 404,
      detail: expect.stringContaining('there are here'),
    });
    await expect(it_.control.calls({ since: '2026-99-99' })).rejects.toMatchObject({ status: 400 });
    await expect(it_.control.mark('a\nb')).rejects.toMatchObject({ status: 400 });
  });

  it('explains a call', async () => {
    await it_.control.rule(
      { match: { rpc: 'Probe' }, when: { nth: 2 }, then: [{ error: 'ABORTED' }] },
      { name: 'second' },
    );
    await probe(it_);
    const [call] = await it_.control.calls();
    const n = call?.call ?? 0;
    expect(await it_.control.explain(n)).toMatchObject({
      call: { method: 'Probe' },
      misses: [{ rule: 'second/rule', key: 'when.nth' }],
    });
    expect((await ask(`/v1/calls/${n}:explain?format=text`)).text).toContain('did not fire: second/rule');
    await expect(it_.control.explain(99)).rejects.toMatchObject({ status: 404 });
    await expect(it_.control.explain(n, 'nobody')).rejects.toMatchObject({ status: 404 });
    expect((await ask('/v1/calls/x:explain')).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('path.n: expected number'),
    });
  });
});

describe('verify', () => {
  const WANTED = 'expect:\n  - {rpc: Probe, count: ">=2"}\n';

  it('gives the verdict as JSON, text and JUnit', async () => {
    await probe(it_);
    const failed = await it_.control.verify(WANTED);
    expect(failed).toMatchObject({
      passed: false,
      results: [{ status: 'failed', expectation: { kind: 'count', at: { line: 2 } } }],
    });
    expect(failed.junit).toContain('failures="1"');
    await probe(it_);
    expect((await it_.control.verify(WANTED)).passed).toBe(true);
    const text = await ask('/v1/verify?format=text', 'POST', WANTED);
    expect(text.text).toContain('passed: 1 of 1');
    expect(text.headers['fake-csi-verdict']).toBe('passed');
    const junit = await ask('/v1/verify?format=junit&file=mine.yaml', 'POST', WANTED);
    expect(junit.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(junit.text).toContain('<testsuite name="mine.yaml" tests="1" failures="0"');
  });

  it('waits for what is still to come', async () => {
    const verdict = it_.control.verify(WANTED, { waitMs: 30_000 });
    await probe(it_);
    await probe(it_);
    expect(await verdict).toMatchObject({ passed: true });
  });

  it('takes a scenario of that name, from its arming', async () => {
    await probe(it_);
    await it_.control.putScenario(SCENARIO);
    expect((await it_.control.verify(undefined, { scenario: 'slow' })).passed).toBe(false);
    await probe(it_);
    expect((await it_.control.verify(undefined, { scenario: 'slow' })).passed).toBe(true);
    expect((await it_.control.verify(SCENARIO)).passed).toBe(true);
  });

  it('knows the volumes and the leaks of the machine', async () => {
    const { id } = await use(it_.test);
    const text = `expect:\n  - eventually: {volume: {id: ${id}}, state: published}\n  - leak: {loops: 0, mounts: 0}\n`;
    expect(await it_.control.verify(text)).toMatchObject({ passed: true });
  });

  it('refuses what expects nothing', async () => {
    await it_.control.rule('Probe: ABORTED', { name: 'mine' });
    await expect(it_.control.verify('expect: [{rcp: Probe}]', { file: 'e.yaml' })).rejects.toMatchObject({
      status: 422,
      errors: [{ file: 'e.yaml', line: 1 }],
    });
    for (const attempt of [
      it_.control.verify(undefined),
      it_.control.verify(undefined, { scenario: 'mine' }),
      it_.control.verify(WANTED, { since: '' }),
    ])
      await expect(attempt).rejects.toMatchObject({ status: 400 });
    await expect(it_.control.verify(undefined, { scenario: 'none' })).rejects.toMatchObject({ status: 404 });
    expect((await ask('/v1/verify?wait=long', 'POST', WANTED)).json()).toMatchObject({
      detail: 'query.wait: expected a duration such as 5s, found "long"',
    });
  });

  it('ends with its client, and with the driver', async () => {
    const leave = new AbortController();
    const left = it_.control.verify(WANTED, { waitMs: 600_000, signal: leave.signal });
    const cut = expect(it_.control.verify(WANTED, { waitMs: 600_000 })).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
    });
    await it_.control.status();
    leave.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    await it_.server.stop();
    await cut;
  });
});

describe('machines', () => {
  it('are set to a state that rules know', async () => {
    await it_.control.putScenario(SCENARIO);
    await it_.control.setMachine('slow', 'attach', 'lost');
    expect((await it_.control.scenario('slow')).scenario.machines).toEqual({ attach: 'lost' });
    await expect(it_.control.setMachine('slow', 'attach', 'gone')).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('pending, lost'),
    });
    await expect(it_.control.setMachine('slow', 'detach', 'gone')).rejects.toMatchObject({ status: 404 });
    await expect(it_.control.setMachine('fast', 'attach', 'gone')).rejects.toMatchObject({ status: 404 });
  });
});
