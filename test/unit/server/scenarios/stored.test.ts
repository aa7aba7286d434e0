import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { createVolume, mountCapability } from '../../../support/lifecycle';
import {
  eventSeen,
  failing,
  probe,
  scenarioText,
  useScenarioDrivers,
} from '../../../support/scenario-driver';
import { until } from '../../../support/until';

const drivers = useScenarioDrivers();

describe('what is put, armed and disarmed', () => {
  it('acts at once, in this process and in the others that share the data folder', async () => {
    const { dataDir, controller, node } = await drivers.pair();
    await controller.driver.scenarios.put(scenarioText('shared', failing('INTERNAL')));
    expect(await probe(controller)).toBe('INTERNAL');
    await eventSeen(node, 'scenarioArmed');
    expect(await probe(node)).toBe('INTERNAL');
    await node.driver.scenarios.disarm('shared');
    expect(await probe(node)).toBe('OK');
    await eventSeen(controller, 'scenarioDisarmed');
    expect(await probe(controller)).toBe('OK');
    await controller.driver.scenarios.arm('shared');
    await controller.driver.scenarios.remove('shared');
    expect(await fs.readdir(path.join(dataDir, 'scenarios'))).not.toContain('shared.yaml');
    await controller.driver.reset();
    await eventSeen(node, 'reset');
  });

  it('a release reaches calls that hang in another process', async () => {
    const { controller, node } = await drivers.pair();
    await node.driver.scenarios.put(
      scenarioText(
        'shared',
        '  rules: [{name: h, match: {rpc: NodeGetInfo}, then: [{hang: {until: release}}]}]',
      ),
    );
    const hung = node.csi.NodeGetInfo();
    await until('the call hangs', () => node.driver.engine.held.size > 0);
    await controller.driver.scenarios.release();
    await hung;
  });

  it('what is asked of one scenario at the same moment hides nothing that is asked of all, or of another', async () => {
    const { controller, node } = await drivers.pair();
    const { scenarios } = controller.driver;
    const once = (code: string, rpc: string) =>
      `  rules: [{name: r, match: {rpc: ${rpc}}, sequence: "1*${code}"}]`;
    await scenarios.put(scenarioText('constructor', once('ABORTED', 'Probe')));
    await scenarios.put(scenarioText('two', once('INTERNAL', 'NodeGetInfo')));
    const info = () => node.csi.NodeGetInfo().catch(({ codeName }: { codeName: string }) => codeName);
    for (const second of [undefined, 'constructor']) {
      node.driver.scenarios.refresh();
      expect([await probe(node), await info()]).toEqual(['ABORTED', 'INTERNAL']);
      await Promise.all([scenarios.reset(second), scenarios.reset('two')]);
    }
    node.driver.scenarios.refresh();
    expect([await probe(node), await info()]).toEqual(['ABORTED', 'INTERNAL']);
  });

  it('a node waits for the attach that its controller does', async () => {
    const { controller, node } = await drivers.pair();
    await controller.driver.scenarios.put(
      scenarioText(
        'attached',
        '  rules: [{name: r, match: {rpc: NodeStageVolume}, when: {times: 1, after: attached}, then: [{error: ABORTED}]}]',
      ),
    );
    node.driver.scenarios.refresh();
    const id = await createVolume(controller);
    const stage = async () =>
      node.csi
        .NodeStageVolume({
          volume_id: id,
          staging_target_path: await node.folder('staging'),
          volume_capability: mountCapability(),
        })
        .catch(({ codeName }: { codeName: string }) => codeName);
    expect(await stage()).not.toBe('ABORTED');
    await controller.csi.ControllerPublishVolume({
      volume_id: id,
      node_id: 'node-1',
      volume_capability: mountCapability(),
    });
    expect(await stage()).toBe('ABORTED');
  });

  it('a machine that one process moves is moved in the others, and in those that start later', async () => {
    const { dataDir, host, controller, node } = await drivers.pair();
    await controller.driver.scenarios.put(
      scenarioText(
        'shared',
        `
  machines: {backend: {initial: down}}
  rules:
  - {name: up, match: {rpc: ListVolumes}, then: [{goto: {backend: up}}]}
  - {name: wait, match: {rpc: NodeGetInfo}, when: {machine: {backend: down}}, then: [{error: {code: UNAVAILABLE, message: m}}]}`,
      ),
    );
    node.driver.scenarios.refresh();
    await expect(node.csi.NodeGetInfo()).rejects.toMatchObject({ codeName: 'UNAVAILABLE' });
    await controller.csi.ListVolumes({});
    const state = (driver: typeof node) => driver.driver.engine.status()[0]?.machines.backend;
    await until('the node has heard of it', () => state(node) === 'up');
    await node.csi.NodeGetInfo();
    const late = await drivers.start({ dataDir, host, profile: 'node', nodeId: 'node-2' });
    expect(state(late)).toBe('up');
    await controller.driver.reset();
    await until('the node has heard of it', () => state(node) === 'down');
  });

  it('a machine that moves on at once is not taken back by what was told of it before', async () => {
    const driver = await drivers.start();
    await driver.driver.scenarios.put(
      scenarioText(
        'quick',
        `
  machines: {m: {initial: a}}
  rules: [{name: r, match: {rpc: Probe}, when: {machine: {m: [a, b, c]}}, then: [{goto: {m: b}}, {goto: {m: c}}, {goto: {m: a}}]}]`,
      ),
    );
    const { engine, scenarios } = driver.driver;
    const states = new Set<string | undefined>();
    for (let round = 0; round < 50; round += 1) {
      for (const state of ['b', 'c', 'a']) engine.setMachine('quick', 'm', state);
      for (let look = 0; look < 5; look += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        scenarios.refresh();
        states.add(engine.status()[0]?.machines.m);
      }
    }
    expect([...states]).toEqual(['a']);
    await driver.stop();
    const switches = JSON.parse(
      await fs.readFile(path.join(driver.dataDir, 'scenarios', '.switches.json'), 'utf8'),
    ) as { machines: object };
    expect(Object.values(switches.machines)).toEqual([{ m: 'a' }]);
  });

  it('a rule of the command line is gone with its file when its time is over', async () => {
    const driver = await drivers.start();
    const text = scenarioText('once', `  expires: 50ms\n${failing('INTERNAL')}`).replace(
      '{name: once}',
      '{name: once, labels: {fake-csi/ad-hoc: "true"}}',
    );
    await driver.driver.scenarios.put(text);
    await eventSeen(driver, 'scenarioExpired');
    driver.driver.scenarios.refresh();
    driver.driver.scenarios.refresh();
    expect(driver.driver.scenarios.list()).toEqual([]);
  });

  it('lives no longer because its process begins a new life', async () => {
    const dataDir = await drivers.folder();
    const first = await drivers.start({ dataDir });
    await first.driver.scenarios.put(scenarioText('once', `  expires: 1h\n${failing('INTERNAL')}`));
    await first.stop();
    const next = await drivers.start({ dataDir });
    const expiry = (driver: typeof first) => driver.driver.engine.status()[0]?.expiresAt;
    expect(expiry(next)).toBe(expiry(first));
  });

  it('is armed, and counts on, in the next life of the process', async () => {
    const dataDir = await drivers.folder();
    const first = await drivers.start({ dataDir });
    await first.driver.scenarios.put(
      scenarioText('kept', '  rules: [{name: r, match: {rpc: Probe}, sequence: "2*INTERNAL -> ok"}]'),
    );
    expect(await probe(first)).toBe('INTERNAL');
    await first.stop();
    const next = await drivers.start({ dataDir });
    expect([await probe(next), await probe(next)]).toEqual(['INTERNAL', 'OK']);
  });
});

describe('many at once', () => {
  it('put and remove the same scenario: each has its turn', async () => {
    const driver = await drivers.start();
    const { scenarios } = driver.driver;
    const text = (code: string) => scenarioText('turns', failing(code));
    await scenarios.put(text('INTERNAL'));
    const turns = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? scenarios.put(text(n % 4 === 0 ? 'ABORTED' : 'UNAVAILABLE'))
          : scenarios.remove('turns'),
      ),
    );
    const reasons = turns.flatMap((turn) => (turn.status === 'rejected' ? [String(turn.reason)] : []));
    expect(reasons.filter((reason) => !reason.includes('no scenario "turns"'))).toEqual([]);
    await scenarios.put(text('ABORTED'));
    expect(await probe(driver)).toBe('ABORTED');
  });
});

describe('a text of several documents', () => {
  const named = (name: string, code: string) => scenarioText(name, failing(code));

  it.each([
    ['with marks between them', `${named('one', 'ABORTED')}---\n${named('two', 'INTERNAL')}`],
    ['after one that is empty', `~\n---\n${named('one', 'ABORTED')}---\n${named('two', 'INTERNAL')}`],
    ['with an end mark alone', `${named('one', 'ABORTED')}...\n${named('two', 'INTERNAL')}`],
    [
      'on the line of the mark',
      `--- {apiVersion: fake-csi/v1, kind: Scenario, metadata: {name: one}, spec: {rules: [{name: r, match: {rpc: Probe}, sequence: ABORTED}]}}\n--- # second\n${named('two', 'INTERNAL')}`,
    ],
    [
      'with directives',
      `%YAML 1.2\n---\n${named('one', 'ABORTED')}...\n%YAML 1.2\n---\n${named('two', 'INTERNAL')}`,
    ],
  ])('%s is put as what it says, each in a file of its own', async (_how, text) => {
    const driver = await drivers.start();
    const { scenarios } = driver.driver;
    expect(await scenarios.put(text)).toEqual(['one', 'two']);
    expect(scenarios.problems()).toEqual([]);
    expect(scenarios.list().map(({ name, file }) => [name, path.basename(file)])).toEqual([
      ['one', 'one.yaml'],
      ['two', 'two.yaml'],
    ]);
    expect(await probe(driver)).toBe('ABORTED');
    await scenarios.remove('one');
    expect(await probe(driver)).toBe('INTERNAL');
  });
});
