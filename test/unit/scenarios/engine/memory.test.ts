import { scenarios, TestEngine } from '../../../support/engine';

const twice = '  rules: [{name: r, match: {rpc: NodeStageVolume}, sequence: "2*UNAVAILABLE -> ok"}]';
const thrice = '  rules: [{name: r, match: {rpc: NodeStageVolume}, sequence: "3*UNAVAILABLE -> ok"}]';
const stage = (engine: TestEngine) => engine.send('NodeStageVolume', { volume: 'a' });

describe('what a scenario remembers', () => {
  it('goes on counting when it is loaded again unchanged, and begins anew when it changed', async () => {
    const engine = new TestEngine(twice);
    await stage(engine);
    engine.load(scenarios(twice));
    expect([await stage(engine), await stage(engine)]).toEqual(['UNAVAILABLE', 'OK']);
    engine.load(scenarios(thrice));
    expect(await stage(engine)).toBe('UNAVAILABLE');
  });

  it('begins anew when it is disarmed and armed again', async () => {
    const engine = new TestEngine(twice);
    for (let call = 0; call < 2; call += 1) await stage(engine);
    engine.load(scenarios(twice), false);
    expect(await stage(engine)).toBe('OK');
    engine.load(scenarios(twice), true);
    expect(await stage(engine)).toBe('UNAVAILABLE');
    expect(engine.events.map(({ event }) => event)).toEqual([
      'scenarioArmed',
      'scenarioDisarmed',
      'scenarioArmed',
    ]);
  });

  it('lets go of what it holds when it is taken away', async () => {
    const engine = new TestEngine(
      '  rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{hang: {until: release}}]}]',
    );
    const hung = stage(engine);
    await engine.clock.advance(1);
    engine.load([]);
    expect(await hung).toBe('OK');
  });

  it('goes on in the next life of the process', async () => {
    const first = new TestEngine(twice);
    await stage(first);
    const saved = JSON.parse(JSON.stringify(first.engine.save())) as ReturnType<typeof first.engine.save>;
    const next = new TestEngine();
    const [scenario] = scenarios(twice);
    if (!scenario) throw new Error('no scenario');
    const { fingerprint, armedAt } = Object.values(saved)[0] ?? { fingerprint: '', armedAt: 0 };
    next.engine.load([{ scenario, fingerprint, armed: true, armedAt }], saved);
    expect([await stage(next), await stage(next)]).toEqual(['UNAVAILABLE', 'OK']);
  });

  it('forgets a volume that is deleted', async () => {
    const engine = new TestEngine(twice);
    for (let call = 0; call < 3; call += 1) await stage(engine);
    await engine.send('DeleteVolume', { volume: 'a' });
    expect(await stage(engine)).toBe('UNAVAILABLE');
    expect(Object.keys(engine.engine.save().test?.rules.r ?? {})).toEqual(['a']);
  });

  it('counts from nothing after a reset', async () => {
    const engine = new TestEngine(twice);
    for (let call = 0; call < 3; call += 1) await stage(engine);
    engine.engine.reset();
    expect(await stage(engine)).toBe('UNAVAILABLE');
    expect(engine.engine.status()).toMatchObject([{ name: 'test', fired: 1, volumes: 1 }]);
  });
});
