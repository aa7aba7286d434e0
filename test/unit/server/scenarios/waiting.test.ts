import { createVolume, dispose, release, stage, use } from '../../../support/lifecycle';
import { lastAnswer, useScenarioDrivers } from '../../../support/scenario-driver';
import { until } from '../../../support/until';

const drivers = useScenarioDrivers();
const HANG = `
  rules: [{name: h, match: {rpc: NodeStageVolume, volume: {name: "hung-*"}}, then: [{hang: {until: release}}]}]`;

it('a hundred hung calls are in nobody else’s way, and reset lets them all go', async () => {
  const driver = await drivers.withSpec(HANG);
  const ids: string[] = [];
  for (let index = 0; index < 100; index += 1)
    ids.push(await createVolume(driver, { name: `hung-${index}` }));
  const hung = ids.map((id) => stage(driver, id));
  const { held } = driver.driver.engine;
  await until('a hundred calls hang', () => held.size === 100);
  await dispose(driver, await use(driver, { name: 'fast' }));
  expect(held.size).toBe(100);
  await driver.driver.reset();
  for (const used of await Promise.all(hung)) await release(driver, used);
}, 60_000);

it('a call that is hung before its work does nothing when its client’s deadline passes', async () => {
  const driver = await drivers.withSpec(HANG);
  const id = await createVolume(driver, { name: 'hung-1' });
  const staging = await driver.folder('staging');
  await expect(
    driver.csi.NodeStageVolume(
      {
        volume_id: id,
        staging_target_path: staging,
        volume_capability: { mount: {}, access_mode: { mode: 1 } },
      },
      { timeoutMs: 100 },
    ),
  ).rejects.toMatchObject({ codeName: 'DEADLINE_EXCEEDED' });
  await driver.driver.pipeline.drained();
  expect(lastAnswer(driver, 'NodeStageVolume')).toMatchObject({
    code: 'DEADLINE_EXCEEDED',
    abandoned: true,
    fired: ['test/h'],
  });
  expect(driver.driver.env.node?.store.stage(id)).toBeUndefined();
});

it('a client that cancels is told from one whose deadline passed', async () => {
  const driver = await drivers.withSpec(
    '  rules: [{name: h, match: {rpc: Probe}, then: [{hang: {until: deadline}}]}]',
  );
  const client = new AbortController();
  const probe = driver.csi.Probe({}, { signal: client.signal });
  await until('the call hangs', () => driver.driver.engine.held.size > 0);
  client.abort();
  await expect(probe).rejects.toMatchObject({ codeName: 'CANCELLED' });
  await driver.driver.pipeline.drained();
  expect(lastAnswer(driver, 'Probe')).toMatchObject({ code: 'CANCELLED', abandoned: true });
});

it('a driver that is busy inside its work goes on without its client; repeats are ABORTED, and in the end it is done', async () => {
  const driver = await drivers.withSpec(`
  rules: [{name: busy, match: {rpc: NodeStageVolume}, when: {nth: 1}, then: [{at: mounted}, {hang: {until: release}}]}]`);
  const id = await createVolume(driver);
  const stageWithin = (timeoutMs: number) =>
    driver.csi.NodeStageVolume(
      {
        volume_id: id,
        staging_target_path: `${driver.dir}/staging`,
        publish_context: context,
        volume_capability: { mount: {}, access_mode: { mode: 1 } },
      },
      { timeoutMs },
    );
  const { publish_context: context } = await driver.csi.ControllerPublishVolume({
    volume_id: id,
    node_id: 'node-1',
    volume_capability: { mount: {}, access_mode: { mode: 1 } },
  });
  await driver.folder('staging');
  await expect(stageWithin(300)).rejects.toMatchObject({ codeName: 'DEADLINE_EXCEEDED' });
  await expect(stageWithin(5_000)).rejects.toMatchObject({ codeName: 'ABORTED' });
  await driver.driver.scenarios.release();
  await driver.driver.pipeline.drained();
  expect(driver.driver.env.node?.store.stage(id)).toBeDefined();
  await stageWithin(5_000);
});

it('a lost answer of a clone does not keep its source locked', async () => {
  const driver = await drivers.withSpec(`
  rules: [{name: h, match: {rpc: CreateVolume, volume: {name: clone}}, then: [{at: after}, {hang: {until: release}}]}]`);
  const source = await createVolume(driver, { name: 'source' });
  const clone = driver.csi.CreateVolume({
    name: 'clone',
    volume_capabilities: [{ mount: {}, access_mode: { mode: 1 } }],
    volume_content_source: { volume: { volume_id: source } },
  });
  await until('the clone hangs', () => driver.driver.engine.held.size > 0);
  await stage(driver, source);
  expect(await driver.driver.scenarios.release()).toBe(1);
  await clone;
});

it('stops though calls hang', async () => {
  const driver = await drivers.withSpec(
    '  rules: [{name: h, match: {rpc: Probe}, then: [{hang: {until: release}}]}]',
  );
  const probe = driver.csi.Probe();
  await until('the call hangs', () => driver.driver.engine.held.size > 0);
  await Promise.all([driver.driver.stop(), probe.catch(() => undefined)]);
});
