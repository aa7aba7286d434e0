import { TestEngine } from '../../../support/engine';

const rule = (when: string, rest = '') => `
  rules:
  - name: r
    match: {rpc: NodeStageVolume}
    when: ${when}
    then: [{error: {code: UNAVAILABLE}}]
${rest}`;

async function codes(engine: TestEngine, calls: readonly string[]): Promise<string> {
  const found: string[] = [];
  for (const volume of calls)
    found.push((await engine.send('NodeStageVolume', { volume })) === 'OK' ? '.' : 'x');
  return found.join('');
}

describe('when a rule fires', () => {
  it.each([
    ['{nth: 2}', '.x..'],
    ['{nth: [1, 3]}', 'x.x.'],
    ['{nth: "3.."}', '..xx'],
    ['{every: 2}', '.x.x'],
    ['{skip: 1}', '.xxx'],
    ['{times: 2}', 'xx..'],
    ['{skip: 1, times: 1}', '.x..'],
    ['{skip: 1, every: 2}', '..x.'],
  ])('%s of one volume: %s', async (when, expected) => {
    expect(await codes(new TestEngine(rule(when)), ['a', 'a', 'a', 'a'])).toBe(expected);
  });

  it('counts each volume by itself unless told otherwise', async () => {
    expect(await codes(new TestEngine(rule('{times: 1}')), ['a', 'b', 'a', 'b'])).toBe('xx..');
    expect(await codes(new TestEngine(rule('{times: 1, per: rule}')), ['a', 'b', 'a', 'b'])).toBe('x...');
  });

  it('counts by node, and by pod', async () => {
    const engine = new TestEngine(rule('{times: 1, per: node}'));
    expect(await engine.send('NodeStageVolume', { volume: 'a', node: 'n1' })).toBe('UNAVAILABLE');
    expect(await engine.send('NodeStageVolume', { volume: 'b', node: 'n1' })).toBe('OK');
    expect(await engine.send('NodeStageVolume', { volume: 'b', node: 'n2' })).toBe('UNAVAILABLE');
    const pods = new TestEngine(`
  rules:
  - {name: r, match: {rpc: NodePublishVolume}, when: {per: pod, nth: 1}, then: [{error: {code: INTERNAL}}]}
`);
    const send = (uid: string) => pods.send('NodePublishVolume', { volume: 'a', pod: { uid } });
    expect([await send('1'), await send('1'), await send('2')]).toEqual(['INTERNAL', 'OK', 'INTERNAL']);
  });

  it('waits a time after it was armed', async () => {
    const engine = new TestEngine(rule('{after: 30s}'));
    expect(await codes(engine, ['a'])).toBe('.');
    await engine.clock.advance(29_999);
    expect(await codes(engine, ['a'])).toBe('.');
    await engine.clock.advance(1);
    expect(await codes(engine, ['a'])).toBe('x');
  });

  it('waits a time after an event of the same volume', async () => {
    const engine = new TestEngine(`
  rules:
  - name: r
    match: {rpc: NodeGetVolumeStats}
    when: {after: {event: staged, delay: 10s}}
    then: [{error: {code: INTERNAL}}]
`);
    const stats = (volume: string) => engine.send('NodeGetVolumeStats', { volume });
    await engine.send('NodeStageVolume', { volume: 'a' });
    await engine.clock.advance(10_000);
    expect([await stats('a'), await stats('b')]).toEqual(['INTERNAL', 'OK']);
  });

  it('waits for another rule to fire', async () => {
    const engine = new TestEngine(`
  rules:
  - {name: first, match: {rpc: CreateVolume}, when: {nth: 1}, then: [{error: {code: ABORTED}}]}
  - {name: then, match: {rpc: NodeStageVolume}, when: {after: {event: "fired:first", delay: 0s}}, then: [{error: {code: INTERNAL}}]}
`);
    expect(await codes(engine, ['a'])).toBe('.');
    await engine.send('CreateVolume', { volume: 'x' });
    expect(await codes(engine, ['a'])).toBe('x');
  });

  it('acts in the down part of a duty cycle', async () => {
    const engine = new TestEngine(rule('{window: {up: 50s, down: 10s}}'));
    const at = async (ms: number) => {
      await engine.clock.advance(ms);
      return codes(engine, ['a']);
    };
    expect([await at(0), await at(49_000), await at(1_000), await at(9_999), await at(1)]).toEqual([
      '.',
      '.',
      'x',
      'x',
      '.',
    ]);
  });

  it('acts for a time from each moment of a cron pattern', async () => {
    // The clock begins at midnight.
    const engine = new TestEngine(rule('{window: {cron: "*/5 * * * *", for: 20s}}'));
    const at = async (ms: number) => {
      await engine.clock.advance(ms);
      return codes(engine, ['a']);
    };
    expect([await at(0), await at(19_999), await at(1), await at(279_999), await at(1)]).toEqual([
      'x',
      'x',
      '.',
      '.',
      'x',
    ]);
  });

  it('acts in a state of a machine, which rules change', async () => {
    const engine = new TestEngine(`
  machines: {attach: {initial: pending}}
  rules:
  - {name: done, match: {rpc: ControllerPublishVolume}, continue: true, then: [{goto: {attach: done}}]}
  - {name: r, match: {rpc: NodeStageVolume}, when: {machine: {attach: pending}}, then: [{error: {code: UNAVAILABLE}}]}
`);
    expect(await codes(engine, ['a'])).toBe('x');
    await engine.send('ControllerPublishVolume', { volume: 'a' });
    expect(await codes(engine, ['a'])).toBe('.');
    engine.engine.setMachine('test', 'attach', 'pending');
    expect(await codes(engine, ['a'])).toBe('x');
    expect(() => engine.engine.setMachine('test', 'x', 'pending')).toThrow(
      'scenario test has no machine x; it has attach',
    );
  });

  it('goes down a sequence, and past what chance leaves out', async () => {
    const engine = new TestEngine(`
  seed: 3
  rules:
  - {name: r, match: {rpc: NodeStageVolume}, sequence: "2*ABORTED -> 50%3*UNAVAILABLE -> ok"}
`);
    const found: string[] = [];
    for (let call = 0; call < 20; call += 1)
      found.push(await engine.send('NodeStageVolume', { volume: 'a' }));
    expect(found.slice(0, 2)).toEqual(['ABORTED', 'ABORTED']);
    expect(found.filter((code) => code === 'UNAVAILABLE')).toHaveLength(3);
    expect(found.slice(2).indexOf('OK')).toBeLessThan(10);
  });

  it('says which key did not hold', () => {
    const engine = new TestEngine(rule('{after: 30s}'));
    expect(engine.misses('NodeStageVolume', { volume: 'a' })).toEqual([
      { rule: 'test/r', key: 'when.after', found: '0 ms', wanted: '30000 ms after armed' },
    ]);
  });
});
