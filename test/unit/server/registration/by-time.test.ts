import { DRIVER, SOCKET, state, useStages } from './stages';

const start = useStages();

it('a flap while the node warms up: registered in the end, and twice withdrawn', async () => {
  const spec = `  rules:
  - {name: flap, match: {service: registration}, when: {window: {up: 40s, down: 15s}}, then: [{registration: {unregister: true, for: 15s}}]}
  - {name: noinfo, match: {rpc: NodeGetInfo}, sequence: "50%2*UNAVAILABLE(warming up) -> ok"}
  expect: [{eventually: {registration: registered}, within: 90s}, {fired: {rule: flap, times: ">=2"}}]`;
  const stage = await start({ spec });
  await stage.pass(39_000);
  expect(state(stage)).toBe('registered');
  await stage.pass(90_000);
  expect(stage.events('registrationWithdrawn').filter(({ why }) => why === 'test/flap')).toHaveLength(2);
  expect(stage.events('fired').map(({ rule }) => rule)).toEqual(['test/flap', 'test/flap']);
  expect(stage.kubelet.has(DRIVER)).toBe(true);
  expect(state(stage)).toBe('registered');
});

describe('rules that act by time', () => {
  const window = (rest: string) =>
    `  rules: [{name: flap, match: {service: registration}, when: {window: {up: 10s, down: 5s}}, then: [${rest}]}]`;

  it('end with their window when they name no time', async () => {
    const stage = await start({ spec: window('{registration: {unregister: true}}') });
    await stage.pass(12_000);
    expect(await stage.files()).toEqual([]);
    await stage.pass(4_000);
    expect(await stage.files()).toEqual([SOCKET]);
    expect(stage.events('fired')).toEqual([
      { rule: 'test/flap', effects: ['registration socket removed by test/flap'] },
    ]);
  });

  it('let go when their scenario is reset, or its driver stops', async () => {
    const spec = window('{registration: {silent: true, for: 1h}}').replace('up: 10s', 'up: 30s');
    const stage = await start({ spec });
    await stage.pass(32_000);
    expect(stage.driver.driver.registration?.status()).toMatchObject({
      state: 'waiting',
      why: 'the socket was removed: test/flap',
    });
    await stage.driver.driver.reset();
    // The kubelet had begun to dial.
    await stage.pass(9_000);
    expect(stage.kubelet.has(DRIVER)).toBe(false);
    await stage.pass(6_000);
    expect(stage.kubelet.has(DRIVER)).toBe(true);
    await stage.driver.stop();
    expect(await stage.files()).toEqual([]);
  });

  it('are no business of a call that comes meanwhile', async () => {
    const stage = await start({ spec: window('{registration: {second: true}}') });
    await stage.pass(14_000);
    const answered = stage.driver.driver.journal
      .entries()
      .flatMap((entry) => (entry.type === 'answered' && entry.method === 'GetInfo' ? [entry.fired] : []));
    expect(answered.length).toBeGreaterThan(1);
    expect(answered.flat()).toEqual([]);
    expect(stage.driver.driver.engine.status()[0]?.rules).toEqual([{ name: 'flap', fired: 1 }]);
  });

  it('act on calls where they name no time', async () => {
    const spec =
      '  rules: [{match: {rpc: GetInfo}, when: {times: 1}, then: [{registration: {unregister: true, for: 5s}}]}]';
    const stage = await start({ spec });
    await stage.pass(15_000);
    expect(stage.kubelet.told()).toMatch(/^created, asked, .*removed, .*unregistered, .*asked, registered$/);
  });

  it('do nothing where the driver does not register itself', async () => {
    const stage = await start({
      spec: window('{registration: {unregister: true}}'),
      driver: { kubelet: undefined },
    });
    await stage.pass(60_000);
    expect(stage.driver.driver.engine.status()[0]?.fired).toBe(0);
    expect(await stage.files()).toEqual([]);
  });
});
