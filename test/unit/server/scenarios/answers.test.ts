import { createVolume, mountCapability, stage, use } from '../../../support/lifecycle';
import { lastAnswer, useScenarioDrivers } from '../../../support/scenario-driver';

const drivers = useScenarioDrivers();

it('fails twice with DEADLINE_EXCEEDED, once with ABORTED, then succeeds', async () => {
  const driver = await drivers.withSpec(`
  rules:
  - name: slow
    match: {rpc: NodeStageVolume}
    sequence: "2*DEADLINE_EXCEEDED(backend \${volume.name} busy) -> 1*ABORTED(pending) -> ok"
`);
  const id = await createVolume(driver, { name: 'one' });
  const answers: string[] = [];
  for (let call = 0; call < 3; call += 1)
    answers.push(await stage(driver, id).then(String, (error: Error) => error.message));
  expect(answers).toEqual([
    '[scenario test: rule slow, 1 of 2] backend one busy',
    '[scenario test: rule slow, 2 of 2] backend one busy',
    '[scenario test: rule slow, 1 of 1] pending',
  ]);
  expect(lastAnswer(driver, 'NodeStageVolume')).toMatchObject({ code: 'ABORTED', fired: ['test/slow'] });
  await stage(driver, id);
});

it('does the work and loses the answer; the retry finds it done', async () => {
  const driver = await drivers.withSpec(`
  rules:
  - name: lose
    match: {rpc: NodeStageVolume}
    when: {per: volume, nth: 1}
    then: [{at: after}, {error: {code: DEADLINE_EXCEEDED}}]
`);
  const id = await createVolume(driver);
  await expect(stage(driver, id)).rejects.toMatchObject({ codeName: 'DEADLINE_EXCEEDED' });
  expect(driver.driver.env.node?.store.stage(id)).toBeDefined();
  await stage(driver, id);
  expect(lastAnswer(driver, 'NodeStageVolume')).toMatchObject({
    code: 'OK',
    fired: [],
    misses: [{ rule: 'test/lose', key: 'when.nth', found: 'call 2', wanted: '1' }],
  });
});

it('says OK and mounts nothing', async () => {
  const driver = await drivers.withSpec(`
  rules: [{name: lie, match: {rpc: NodePublishVolume}, then: [{at: instead}, {respond: {merge: {}}}]}]`);
  const used = await use(driver);
  expect(driver.driver.env.node?.store.publication(used.target)).toBeUndefined();
  expect(await driver.driver.env.host.mounts.at(used.target)).toBeNull();
});

it('falsifies a real answer', async () => {
  const driver = await drivers.withSpec(`
  rules: [{name: lie, match: {rpc: CreateVolume}, then: [{respond: {merge: {volume: {capacity_bytes: 1}}}}]}]`);
  const { volume } = await driver.csi.CreateVolume({
    name: 'v',
    capacity_range: { required_bytes: '67108864' },
    volume_capabilities: [mountCapability()],
  });
  expect(volume?.capacity_bytes).toBe('1');
  expect(driver.driver.env.volumes.find(volume?.volume_id ?? '')?.capacityBytes).toBe('67108864');
});

it('does the real work on a changed request, and the journal keeps what was asked', async () => {
  const driver = await drivers.withSpec(`
  rules:
  - name: other
    match: {rpc: CreateVolume}
    then: [{set: {request.capacity_range.required_bytes: 33554432}}]
`);
  const { volume } = await driver.csi.CreateVolume({
    name: 'v',
    capacity_range: { required_bytes: '67108864' },
    volume_capabilities: [mountCapability()],
  });
  expect(volume?.capacity_bytes).toBe('33554432');
  expect(driver.driver.journal.entries().find((entry) => entry.type === 'received')).toMatchObject({
    request: { capacity_range: { required_bytes: '67108864' } },
  });
});

it('loses by one rule the answer that another gives instead of the work', async () => {
  const driver = await drivers.withSpec(`
  rules:
  - {name: lie, continue: true, match: {rpc: DeleteVolume}, when: {times: 1}, then: [{at: instead}]}
  - {name: lose, match: {rpc: DeleteVolume}, when: {times: 1}, then: [{at: after, error: DEADLINE_EXCEEDED}]}`);
  const volume_id = await createVolume(driver);
  await expect(driver.csi.DeleteVolume({ volume_id })).rejects.toMatchObject({
    codeName: 'DEADLINE_EXCEEDED',
  });
  expect((await driver.csi.ListVolumes()).entries).toHaveLength(1);
  await driver.csi.DeleteVolume({ volume_id });
  expect((await driver.csi.ListVolumes()).entries).toHaveLength(0);
});

it('leaves a request alone whose list does not have the position that is set, and says so', async () => {
  const driver = await drivers.withSpec(`
  rules:
  - name: r
    match: {rpc: ValidateVolumeCapabilities}
    then: [{set: {'request.volume_capabilities[5].access_mode.mode': UNKNOWN}}]`);
  const volume_id = await createVolume(driver);
  await driver.csi.ValidateVolumeCapabilities({ volume_id, volume_capabilities: [mountCapability()] });
  expect(lastAnswer(driver, 'ValidateVolumeCapabilities').effects).toEqual([
    'request.volume_capabilities.5.access_mode.mode was not set by test/r: expected a position from 0 to 1 in the list, found 5',
  ]);
});

it('an injected error of a discreet scenario says nothing of it', async () => {
  const driver = await drivers.withSpec(`
  discreet: true
  rules: [{name: r, match: {rpc: Probe}, then: [{error: {code: UNAVAILABLE, message: backend down}}]}]`);
  await expect(driver.csi.Probe()).rejects.toMatchObject({ message: 'backend down' });
});

it('matches node calls by claim, and inline volumes by pod and attribute', async () => {
  const driver = await drivers.withSpec(`
  rules:
  - {name: claim, match: {rpc: NodeStageVolume, volume: {pvc: {namespace: db, name: "data-*"}}}, then: [{error: {code: INTERNAL, message: by claim}}]}
  - {name: pod, match: {rpc: NodeUnpublishVolume, pod: {name: web-0}, volume: {attributes: {tier: gold}}}, when: {times: 1}, then: [{error: {code: INTERNAL, message: by pod}}]}
`);
  const claimed = await createVolume(driver, {
    parameters: { 'csi.storage.k8s.io/pvc/namespace': 'db', 'csi.storage.k8s.io/pvc/name': 'data-0' },
  });
  await expect(stage(driver, claimed)).rejects.toThrow('by claim');
  await stage(driver, await createVolume(driver));
  const target = await driver.target('inline');
  await driver.csi.NodePublishVolume({
    volume_id: 'csi-inline',
    target_path: target,
    volume_capability: mountCapability(),
    volume_context: {
      'csi.storage.k8s.io/ephemeral': 'true',
      'csi.storage.k8s.io/pod.name': 'web-0',
      'csi.storage.k8s.io/pod.namespace': 'shop',
      'csi.storage.k8s.io/pod.uid': 'u',
      size: '64Mi',
      tier: 'gold',
    },
  });
  const gone = () => driver.csi.NodeUnpublishVolume({ volume_id: 'csi-inline', target_path: target });
  await expect(gone()).rejects.toThrow('by pod');
  await gone();
  expect(
    driver.driver.journal
      .entries()
      .find((entry) => entry.type === 'received' && entry.method === 'NodeStageVolume'),
  ).toMatchObject({ pvc: { namespace: 'db', name: 'data-0' } });
});

it('says of a volume that names a scenario which is not loaded that it is not', async () => {
  const driver = await drivers.withSpec('  rules: [{name: r, match: {rpc: Probe}, then: [{delay: 1ms}]}]');
  await createVolume(driver, { parameters: { scenario: 'later' } });
  expect(lastAnswer(driver, 'CreateVolume').effects).toContain(
    'scenario "later", which the volume names, is not loaded',
  );
  await createVolume(driver, { parameters: { scenario: 'test' } });
  expect(lastAnswer(driver, 'CreateVolume').effects.join()).not.toContain('not loaded');
});

it('keeps names that Kubernetes does not allow from filling the journal', async () => {
  const driver = await drivers.withSpec('  rules: [{name: r, match: {rpc: Probe}, then: [{delay: 1ms}]}]');
  const long = 'x'.repeat(100_000);
  const parameters = { 'csi.storage.k8s.io/pvc/name': long, scenario: long };
  await driver.csi
    .CreateVolume({ name: 'v', parameters, volume_capabilities: [mountCapability()] })
    .catch(() => undefined);
  for (const entry of driver.driver.journal.entries())
    expect(JSON.stringify(entry).length).toBeLessThan(20_000);
});
