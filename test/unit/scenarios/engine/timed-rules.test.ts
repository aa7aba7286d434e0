import { TestEngine } from '../../../support/engine';

const WINDOW = 'when: {window: {up: 40s, down: 15s}}';
const STEP = 'then: [{registration: {unregister: true}}]';
const rule = (when: string, then = STEP) =>
  `  rules: [{name: flap, match: {service: registration}, ${when}, ${then}}]`;

describe('rules that act by time', () => {
  it('act when their window closes on the kubelet, once in each, and end with it', async () => {
    const test = new TestEngine(rule(WINDOW));
    await test.clock.advance(39_999);
    expect(test.acts).toEqual([]);
    await test.clock.advance(1);
    expect(test.acts).toEqual(['registration unregister by test/flap']);
    await test.clock.advance(14_999);
    expect(test.acts).toHaveLength(1);
    await test.clock.advance(1);
    expect(test.acts.slice(1)).toEqual(['registration window closed test/flap']);
    await test.clock.advance(55_000);
    expect(test.engine.status()[0]).toMatchObject({ fired: 2, rules: [{ name: 'flap', fired: 2 }] });
  });

  it('act at the minutes that a cron pattern names', async () => {
    const test = new TestEngine(rule('when: {window: {cron: "*/5 * * * *", for: 20s}}'));
    await test.clock.advance(1_000);
    // The clock begins at midnight, which the pattern names too.
    expect(test.acts).toHaveLength(1);
    await test.clock.advance(298_000);
    expect(test.acts).toEqual([
      'registration unregister by test/flap',
      'registration window closed test/flap',
    ]);
    await test.clock.advance(1_000);
    expect(test.acts).toHaveLength(3);
  });

  it('act so long after they were armed, and never by the passing of more time', async () => {
    const test = new TestEngine(rule('when: {after: 30s}'));
    await test.clock.advance(29_000);
    expect(test.acts).toEqual([]);
    await test.clock.advance(600_000);
    expect(test.acts).toHaveLength(1);
  });

  it('act after another rule has fired', async () => {
    const test = new TestEngine(
      `${rule('when: {after: {event: "fired:probe", delay: 5s}}').slice(0, -1)}, {name: probe, match: {rpc: Probe}, then: [{delay: 0s}]}]`,
    );
    await test.clock.advance(60_000);
    expect(test.acts).toEqual([]);
    const sent = test.send('Probe');
    await test.clock.advance(0);
    await sent;
    await test.clock.advance(5_000);
    expect(test.acts).toHaveLength(1);
  });

  it('act after one of their own kind, whichever comes first in the file', async () => {
    const waits = rule('when: {after: {event: "fired:first"}}').replace('unregister', 'second').slice(0, -1);
    const first = `{name: first, match: {service: registration}, when: {after: 10s}, ${STEP}}`;
    const test = new TestEngine(`${waits}, ${first}]`);
    await test.clock.advance(9_000);
    expect(test.acts).toEqual([]);
    await test.clock.advance(1_000);
    expect(test.acts).toEqual(['registration unregister by test/first', 'registration second by test/flap']);
  });

  it('count the times they come, as others count calls', async () => {
    const test = new TestEngine(rule('when: {window: {up: 40s, down: 15s}, nth: [2, 4], times: 5}'));
    await test.clock.advance(55_000 * 5);
    expect(test.acts.filter((act) => act.includes(' by '))).toHaveLength(2);
    expect(test.events.filter(({ event }) => event === 'fired')).toHaveLength(2);
  });

  it('draw the same from the same seed', async () => {
    const firedOf = async () => {
      const test = new TestEngine(rule('when: {window: {up: 1s, down: 1s}, probability: 0.5}'));
      const fired: number[] = [];
      for (let round = 0; round < 20; round++) {
        await test.clock.advance(2_000);
        fired.push(test.engine.status()[0]?.fired ?? 0);
      }
      return fired;
    };
    const first = await firedOf();
    expect(await firedOf()).toEqual(first);
    expect(first.at(-1)).toBeGreaterThan(2);
    expect(first.at(-1)).toBeLessThan(18);
  });

  it('do not act once their scenario is disarmed or expired, and what it did is taken back', async () => {
    const test = new TestEngine(`  expires: 100s\n${rule(WINDOW)}`);
    await test.clock.advance(41_000);
    expect(test.acts).toEqual(['registration unregister by test/flap']);
    await test.clock.advance(600_000);
    expect(test.acts.filter((act) => act.includes(' by '))).toHaveLength(2);
    expect(test.acts).toContain('registration heal test');
    test.load([], true);
    const before = test.acts.length;
    await test.clock.advance(600_000);
    expect(test.acts.slice(before).filter((act) => act.includes(' by '))).toEqual([]);
  });

  it('begin anew at reset', async () => {
    const test = new TestEngine(rule('when: {after: 30s, times: 1}'));
    await test.clock.advance(60_000);
    test.engine.reset();
    await test.clock.advance(29_000);
    expect(test.acts.filter((act) => act.includes(' by '))).toHaveLength(1);
    await test.clock.advance(1_000);
    expect(test.acts.filter((act) => act.includes(' by '))).toHaveLength(2);
  });

  it('are not asked about calls', async () => {
    const test = new TestEngine(rule(WINDOW));
    await test.clock.advance(45_000);
    expect(test.engine.concerns('GetInfo')).toBe(false);
    expect(await test.send('GetInfo')).toBe('OK');
    expect(test.engine.status()[0]?.fired).toBe(1);
  });

  it('take their other steps, too', async () => {
    const test = new TestEngine(
      `  machines: {plugin: {initial: there}}\n${rule('when: {after: 1s}', 'then: [{registration: {dead: true, for: 5s}}, {goto: {plugin: gone}}]')}`,
    );
    await test.clock.advance(1_000);
    expect(test.engine.status()[0]?.machines).toEqual({ plugin: 'gone' });
    expect(test.events.find(({ event }) => event === 'fired')?.details).toEqual({
      rule: 'test/flap',
      effects: ['registration socket left without a listener for 5000 ms by test/flap'],
    });
  });
});

it('a rule about other calls acts on the registration when they come', async () => {
  const test = new TestEngine(
    '  rules: [{name: flap, match: {rpc: NodeStageVolume}, then: [{registration: {unregister: true, for: 5s}}]}]',
  );
  expect(await test.send('NodeStageVolume', { volume: 'v' })).toBe('OK');
  expect(test.acts).toEqual(['registration unregister by test/flap']);
});
