import { TestEngine } from '../../../support/engine';

const always = 'rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{error: {code: UNAVAILABLE}}]}]';
const stage = (engine: TestEngine, volume = 'a') => engine.send('NodeStageVolume', { volume });

describe('what ends a scenario', () => {
  it('fires no more than maxFired, on no more than maxVolumes', async () => {
    const fired = new TestEngine(`  limits: {maxFired: 2}\n  ${always}`);
    expect([await stage(fired), await stage(fired, 'b'), await stage(fired)]).toEqual([
      'UNAVAILABLE',
      'UNAVAILABLE',
      'OK',
    ]);
    const volumes = new TestEngine(`  limits: {maxVolumes: 1}\n  ${always}`);
    expect([await stage(volumes), await stage(volumes, 'b'), await stage(volumes)]).toEqual([
      'UNAVAILABLE',
      'OK',
      'UNAVAILABLE',
    ]);
  });

  it('keeps no more than maxActive calls waiting', async () => {
    const engine = new TestEngine(`
  limits: {maxActive: 1}
  rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{delay: 5s}]}]`);
    const first = stage(engine, 'a');
    expect(await stage(engine, 'b')).toBe('OK');
    await engine.clock.advance(5_000);
    expect(await first).toBe('OK');
  });

  it('disarms itself when stopIf comes true, and says so', async () => {
    const engine = new TestEngine(`  limits: {stopIf: ["node.fsFreePct < 5"]}\n  ${always}`);
    expect(await stage(engine)).toBe('UNAVAILABLE');
    engine.fsFreePct = 4;
    expect(await stage(engine)).toBe('OK');
    engine.fsFreePct = 50;
    expect(await stage(engine)).toBe('OK');
    expect(engine.events.map(({ event }) => event)).toContain('scenarioStopped');
    engine.engine.reset();
    expect(await stage(engine)).toBe('UNAVAILABLE');
  });

  it('expires, and lets go of what hangs', async () => {
    const engine = new TestEngine(`
  expires: 30m
  rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{hang: {until: release}}]}]`);
    const hung = stage(engine);
    await engine.clock.advance(5 * 60_000);
    expect(engine.engine.held.size).toBe(1);
    await engine.clock.advance(25 * 60_000);
    expect(await hung).toBe('OK');
    expect(await stage(engine)).toBe('OK');
    expect(engine.events.at(-1)).toEqual({ event: 'scenarioExpired', details: { scenario: 'test' } });
  });

  it('a hang ends at its limit though nobody lets go', async () => {
    const engine = new TestEngine(`
  limits: {maxHang: 90s}
  rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{hang: {until: deadline}}]}]`);
    const hung = stage(engine);
    await engine.clock.advance(89_999);
    expect(engine.engine.held.size).toBe(1);
    await engine.clock.advance(1);
    expect(await hung).toBe('OK');
  });

  it('a hang ends when its client goes, with the reason', async () => {
    const engine = new TestEngine(
      '  rules: [{name: r, match: {rpc: NodeStageVolume}, then: [{hang: {until: deadline}}]}]',
    );
    const client = new AbortController();
    const hung = engine.send('NodeStageVolume', { volume: 'a', signal: client.signal });
    await engine.clock.advance(1);
    client.abort(new Error('the deadline passed'));
    expect(await hung).toBe('Error: the deadline passed');
    expect(engine.engine.held.size).toBe(0);
  });

  it('release lets hung calls go and leaves delays alone; reset ends both', async () => {
    const engine = new TestEngine(`
  rules:
  - {name: h, match: {rpc: NodeStageVolume}, then: [{hang: {until: release}}]}
  - {name: d, match: {rpc: NodeUnstageVolume}, then: [{delay: 1h}]}`);
    const hung = stage(engine);
    const delayed = engine.send('NodeUnstageVolume', { volume: 'a' });
    await engine.clock.advance(1);
    expect(engine.engine.release()).toBe(1);
    expect(await hung).toBe('OK');
    expect(engine.engine.held.list().map(({ kind }) => kind)).toEqual(['delay']);
    engine.engine.reset();
    expect(await delayed).toBe('OK');
  });

  it('what has expired stays so at a reset', async () => {
    const engine = new TestEngine(`  expires: 1m\n  ${always}`);
    await engine.clock.advance(60_000);
    engine.engine.reset();
    expect(await stage(engine)).toBe('OK');
    expect(engine.engine.status()).toMatchObject([{ armed: false, stopped: 'expired' }]);
  });
});
