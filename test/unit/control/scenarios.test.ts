// biome-ignore-all lint/suspicious/noThenProperty: `then` is the language's word for what a rule does.
import { existsSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { type Controlled, probe, raw, SCENARIO, startControlled } from './support';

let it_: Controlled;
beforeEach(async () => {
  it_ = await startControlled();
});
afterEach(() => it_.close());

const socketPath = () => it_.server.socket ?? '';
const fileOf = (name: string) => path.join(it_.test.dataDir, 'scenarios', `${name}.yaml`);

describe('scenarios', () => {
  it('are put, listed, shown, disarmed, armed, reset and removed', async () => {
    const { control } = it_;
    expect(await control.putScenario(SCENARIO)).toMatchObject({
      names: ['slow'],
      problems: [],
      processes: [it_.test.driver.processName],
    });
    expect(await probe(it_)).toBe('UNAVAILABLE');
    expect(await control.scenarios()).toMatchObject({
      scenarios: [{ name: 'slow', armed: true, fired: 1, machines: { attach: 'pending' } }],
      problems: [],
    });
    const { scenario, text } = await control.scenario('slow');
    expect(scenario.file).toBe(fileOf('slow'));
    expect(text).toBe(SCENARIO);
    await control.disarm('slow');
    expect(await probe(it_)).toBe('OK');
    await control.arm('slow');
    expect(await probe(it_)).toBe('UNAVAILABLE');
    await control.reset({ scenario: 'slow' });
    expect((await control.scenario('slow')).scenario.fired).toBe(0);
    await control.removeScenario('slow');
    expect(await probe(it_)).toBe('OK');
    expect(existsSync(fileOf('slow'))).toBe(false);
  });

  it('are taken as YAML, under their own name only', async () => {
    const put = (name: string) =>
      raw(
        { socketPath: socketPath() },
        {
          method: 'PUT',
          path: `/v1/scenarios/${name}`,
          headers: { 'content-type': 'text/yaml; charset=utf-8' },
          body: SCENARIO,
        },
      );
    expect((await put('fast')).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('expected one scenario named fast, found slow'),
    });
    expect((await put('slow')).json()).toMatchObject({ names: ['slow'] });
    const reset = await raw(
      { socketPath: socketPath() },
      { method: 'POST', path: '/v1/scenarios/slow:reset' },
    );
    expect(reset.status).toBe(200);
  });

  it('are refused with every problem and its place, and validated without being put', async () => {
    const { control } = it_;
    const wrong = SCENARIO.replace('when:', 'wen:').replace('UNAVAILABLE,', 'UNAVAILABEL,');
    await expect(control.putScenario(wrong, 'mine.yaml')).rejects.toMatchObject({
      code: 'invalid-scenario',
      status: 422,
      detail: expect.stringMatching(/^not a scenario: mine\.yaml:11:7: rules\.0: unknown key "wen"/),
      errors: expect.arrayContaining([
        expect.objectContaining({ line: 11, path: 'rules.0' }),
        expect.objectContaining({ line: 12 }),
      ]),
    });
    const { valid, problems } = await control.validate(wrong, 'mine.yaml');
    expect(valid).toBe(false);
    expect(problems.map(({ file }) => file)).toContain('mine.yaml');
    expect(await control.validate(SCENARIO)).toEqual({ valid: true, scenarios: ['slow'], problems: [] });
    expect((await control.scenarios()).scenarios).toEqual([]);
  });

  it('that nobody has are named in the answer, with those there are', async () => {
    await it_.control.putScenario(SCENARIO);
    for (const attempt of [
      it_.control.scenario('slo'),
      it_.control.arm('slo'),
      it_.control.disarm('slo'),
      it_.control.removeScenario('slo'),
      it_.control.reset({ scenario: 'slo' }),
      it_.control.release('slo'),
      it_.control.scenario('../../etc/passwd'),
    ])
      await expect(attempt).rejects.toMatchObject({
        status: 404,
        code: 'not-found',
        detail: expect.stringContaining('loaded: slow'),
      });
  });

  it('that stand in a file of somebody else are neither replaced nor removed', async () => {
    writeFileSync(fileOf('mine'), `${SCENARIO}---\n${SCENARIO.replace('name: slow', 'name: other')}`);
    await it_.control.refresh();
    await expect(it_.control.putScenario(SCENARIO)).rejects.toMatchObject({
      status: 409,
      detail: expect.stringContaining('mine.yaml'),
    });
    await expect(it_.control.removeScenario('slow')).rejects.toMatchObject({
      status: 409,
      detail: expect.stringContaining('together with other'),
    });
  });

  it('that this process alone was started with are disarmed, not removed', async () => {
    const file = path.join(it_.test.dir, 'own.yaml');
    writeFileSync(file, SCENARIO);
    const own = await startControlled({ scenarios: [file] });
    try {
      await expect(own.control.removeScenario('slow')).rejects.toMatchObject({
        status: 409,
        code: 'conflict',
      });
      await expect(own.control.putScenario(SCENARIO)).rejects.toMatchObject({ status: 409 });
      await own.control.disarm('slow');
      expect(await probe(own)).toBe('OK');
    } finally {
      await own.close();
    }
  });

  it('whose file broke are shown with what is wrong, and act as before', async () => {
    await it_.control.putScenario(SCENARIO);
    writeFileSync(fileOf('slow'), SCENARIO.replace('rules:', 'ruls:'));
    await it_.control.refresh();
    const { scenarios, problems } = await it_.control.scenarios();
    expect(scenarios).toMatchObject([{ name: 'slow', problems: [{ line: 8 }] }]);
    expect(problems).toHaveLength(1);
    expect(await probe(it_)).toBe('UNAVAILABLE');
    expect((await it_.control.status()).processes).toMatchObject([
      { scenarios: { loaded: 1, armed: 1, reloadFailures: 1 }, problems: [{ line: 8 }] },
    ]);
  });
});

describe('rules', () => {
  it('are made of one line, act at once and are removed', async () => {
    const { name, text } = await it_.control.rule('Probe: 1*UNAVAILABLE(busy) -> ok', { ttl: '10m' });
    expect(text).toContain('expires: 10m');
    expect([await probe(it_), await probe(it_)]).toEqual(['UNAVAILABLE', 'OK']);
    const { scenario } = await it_.control.scenario(name);
    expect(scenario.labels).toEqual({ 'fake-csi/ad-hoc': 'true' });
    expect(scenario.expiresAt).toBeDefined();
    await it_.control.removeRule(name);
    expect((await it_.control.scenarios()).scenarios).toEqual([]);
  });

  it('are made of an object, or of a whole scenario, and replaced by their name', async () => {
    const { control } = it_;
    const rule = { match: { rpc: 'Probe' }, then: [{ error: 'ABORTED' }] };
    expect((await control.rule(rule, { name: 'mine' })).name).toBe('mine');
    expect(await probe(it_)).toBe('ABORTED');
    await control.rule({ ...rule, then: [{ error: 'INTERNAL' }] }, { name: 'mine' });
    expect(await probe(it_)).toBe('INTERNAL');
    const whole = {
      apiVersion: 'fake-csi/v1',
      kind: 'Scenario',
      metadata: { name: 'whole' },
      spec: { rules: [rule] },
    };
    expect((await control.rule(whole, { ttl: '1h' })).text).toMatch(/name: whole[\s\S]*expires: 1h/);
  });

  it.each([
    ['Probe 2*UNAVAILABLE', 422, /^not a rule: rule:1:\d+/],
    [{ match: { rpc: 'Prob' }, then: [{ error: 'ABORTED' }] }, 422, /unknown RPC "Prob"/],
    [{ kind: 'Scenario', spec: 7 }, 422, /apiVersion/],
    [{ kind: 'Scenario', metadata: 7 }, 422, /not a rule/],
    [JSON.parse(`{"__proto__": {"match": 1}}`) as Record<string, unknown>, 422, /not a rule/],
    [{}, 422, /not a rule/],
  ])('that are none are refused with their place: %j', async (rule, status, detail) => {
    await expect(it_.control.rule(rule)).rejects.toMatchObject({
      status,
      detail: expect.stringMatching(detail),
    });
    expect((await it_.control.scenarios()).scenarios).toEqual([]);
  });

  it('are refused when they are too deep to be read', async () => {
    const deep = `{"rule":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`;
    const answer = await raw(
      { socketPath: socketPath() },
      { method: 'POST', path: '/v1/rules', headers: { 'content-type': 'application/json' }, body: deep },
    );
    expect(answer.json()).toMatchObject({ status: 400, detail: expect.stringContaining('levels') });
  });

  it('have a ttl that is a duration and a name that is free', async () => {
    await it_.control.putScenario(SCENARIO);
    await expect(it_.control.rule('Probe: ABORTED', { ttl: 'soon' })).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('body.ttl: expected a duration'),
    });
    await expect(it_.control.rule('Probe: ABORTED', { name: 'slow' })).rejects.toMatchObject({ status: 409 });
    await expect(it_.control.rule('Probe: ABORTED', { name: '../x' })).rejects.toMatchObject({ status: 422 });
    await expect(it_.control.removeRule('slow')).rejects.toMatchObject({ status: 409 });
    await expect(it_.control.removeRule('none')).rejects.toMatchObject({ status: 404 });
  });
});
