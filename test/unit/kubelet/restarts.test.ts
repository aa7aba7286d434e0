import { answers, callsOf, eventsOf, ONE_POD, play, pod, rules, staticVolume, work } from './harness';

const RUNNING = 'create; wait running; advance 15s';

describe('the kubelet restarts', () => {
  test('with a running pod: NodeStageVolume and NodePublishVolume come again, with the same paths', async () => {
    const played = await play(
      ONE_POD,
      `${RUNNING}; kubelet restart; assert state data mount-uncertain; assert state data stage-uncertain; wait state data mounted; assert running`,
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(work(played)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeStageVolume OK',
      'NodePublishVolume OK',
    ]);
    for (const method of ['NodeStageVolume', 'NodePublishVolume']) {
      const [first, second] = callsOf(played, method);
      expect(second?.request).toEqual(first?.request);
    }
  });

  test('after the pod was deleted meanwhile: all is mounted again until the containers have ended, and then undone', async () => {
    const played = await play(
      ONE_POD,
      `${RUNNING}; kubelet stop; delete; advance 1m; assert not gone; kubelet start; advance 2400ms; assert calls NodeUnpublishVolume =0; wait clean`,
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(work(played).slice(2)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
    ]);
  });

  test('while the containers end: they are given their time anew', async () => {
    const played = await play(
      ONE_POD,
      `${RUNNING}; delete; advance 2s; kubelet restart; advance 2s; assert not gone; assert calls NodeUnpublishVolume =0; wait gone within 1s; wait clean`,
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodePublishVolume')).toHaveLength(2);
  });

  test('after the containers have ended: what is left is unmounted and not mounted again', async () => {
    const scenario = rules(
      "{name: no, match: {rpc: NodeUnpublishVolume}, sequence: '3*INTERNAL(busy) -> ok'}",
    );
    const played = await play(ONE_POD, `${RUNNING}; delete; advance 3s; kubelet restart; wait clean`, {
      scenario,
    });
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeStageVolume')).toHaveLength(1);
    expect(callsOf(played, 'NodePublishVolume')).toHaveLength(1);
  });

  test('a pod that is removed by force keeps its volumes until its containers have ended', async () => {
    const played = await play(
      ONE_POD,
      `${RUNNING}; force-delete web; advance 2s; assert calls NodeUnpublishVolume =0; wait calls NodeUnpublishVolume within 1s; wait clean`,
    );
    expect(played.outcome.failure).toBeUndefined();
  });

  test('between NodeUnpublishVolume and NodeUnstageVolume: the stage is forgotten, and detached all the same (k/k#85476)', async () => {
    const scenario = rules("{name: held, match: {rpc: NodeUnstageVolume}, sequence: '1*hang -> ok'}");
    const played = await play(
      ONE_POD,
      'create; wait running; delete; wait gone; advance 5s; kubelet restart; wait state data detached; advance 3m',
      { scenario },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeUnstageVolume').map(({ code }) => code)).toEqual(['CANCELLED']);
    expect(callsOf(played, 'ControllerUnpublishVolume').map(({ code }) => code)).toEqual(['OK']);
  });

  test('nothing can be torn down before the driver is registered again, and then it heals', async () => {
    const scenario = rules(
      "{name: mute, match: {rpc: NodeGetInfo}, when: {skip: 1}, sequence: '4*UNAVAILABLE(no) -> ok'}",
    );
    const played = await play(ONE_POD, `${RUNNING}; delete; kubelet restart; wait clean`, { scenario });
    expect(played.outcome.failure).toBeUndefined();
    expect(
      played.timeline.entries.some(({ text }) =>
        text.includes('not found in the list of registered CSI drivers'),
      ),
    ).toBe(true);
  });

  test('a final error afterwards: 1.36 keeps vol_data.json and unpublishes later; 1.32 deletes it and never can', async () => {
    const scenario = rules(
      "{name: broken, match: {rpc: NodePublishVolume}, when: {skip: 1}, sequence: 'INTERNAL(no)'}",
    );
    const steps = `${RUNNING}; node reboot; wait calls NodePublishVolume INTERNAL; delete; advance 2m`;
    const newer = await play(ONE_POD, steps, { scenario });
    expect(callsOf(newer, 'NodeUnpublishVolume').map(({ code }) => code)).toEqual(['OK']);
    const older = await play(ONE_POD, steps, { scenario, version: '1.32' });
    expect(callsOf(older, 'NodeUnpublishVolume')).toEqual([]);
    expect(
      older.timeline.entries.some(({ text }) => text.includes('unmounter failed to load volume data file')),
    ).toBe(true);
  });

  test('a device that was found at start is never forgotten for an error, also when it was mounted since', async () => {
    const scenario = rules(
      "{name: held, match: {rpc: NodeUnstageVolume}, sequence: '1*INTERNAL(no) -> ok'}",
      "{name: broken, match: {rpc: NodeStageVolume}, when: {skip: SKIP}, sequence: 'INTERNAL(no)'}",
    );
    const steps = (restart: string) =>
      `${RUNNING}; ${restart}delete; wait gone; wait calls NodeUnstageVolume INTERNAL; create web; wait event FailedMount; wait calls NodeStageVolume INTERNAL`;
    const plain = await play(ONE_POD, `${steps('')}; assert state data not-staged`, {
      scenario: scenario.replace('SKIP', '1'),
    });
    expect(plain.outcome.failure).toBeUndefined();
    const found = await play(
      ONE_POD,
      `${steps('kubelet restart; wait state data mounted; ')}; assert state data stage-uncertain; delete; wait clean; assert calls NodeUnstageVolume OK =1`,
      { scenario: scenario.replace('SKIP', '2') },
    );
    expect(found.outcome.failure).toBeUndefined();
  });

  test('a folder that a mount left without vol_data.json, for want of a secret, cannot be taken up', async () => {
    const manifests = staticVolume({ csi: ', nodePublishSecretRef: {name: key}' }) + pod('web');
    const played = await play(
      manifests,
      'create; wait state pv-1 staged; advance 1s; kubelet restart; advance 1s',
    );
    expect(
      played.timeline.entries.some(({ text }) =>
        /^Could not construct volume information from .*\/pv-1: kubernetes\.io\/csi: failed to open volume data file/.test(
          text,
        ),
      ),
    ).toBe(true);
  });

  test.each(['remove', 'empty', 'corrupt'])(
    '%s of vol_data.json before: the volume is not reconstructed',
    async (act) => {
      const played = await play(
        ONE_POD,
        `${RUNNING}; vol-data ${act} web; delete; advance 3s; kubelet restart; advance 1m`,
      );
      expect(callsOf(played, 'NodeUnpublishVolume')).toEqual([]);
      expect(
        played.timeline.entries.some(({ text }) =>
          /^Could not construct volume information from .*vol_data\.json/.test(text),
        ),
      ).toBe(true);
      expect(played.outcome.standings.map(({ what, state }) => `${what} ${state}`)).toContain(
        'pod default/web Terminating',
      );
    },
  );

  test.each(['remove', 'empty', 'corrupt'])(
    '%s of vol_data.json before, and the containers are still to be ended: the file is written anew, and it heals',
    async (act) => {
      const played = await play(
        ONE_POD,
        `${RUNNING}; kubelet stop; vol-data ${act} web; delete; kubelet start; wait clean`,
      );
      expect(played.outcome.failure).toBeUndefined();
      expect(callsOf(played, 'NodePublishVolume')).toHaveLength(2);
      expect(callsOf(played, 'NodeUnpublishVolume')).toHaveLength(1);
    },
  );
});

describe('the driver restarts', () => {
  test('the kubelet calls nothing and knows of nothing', async () => {
    const played = await play(ONE_POD, `${RUNNING}; driver restart; advance 50s; assert running`);
    expect(played.outcome.failure).toBeUndefined();
    expect(work(played)).toEqual(['NodeStageVolume OK', 'NodePublishVolume OK']);
  });

  test('what it does while it is down fails with UNAVAILABLE, and heals', async () => {
    const played = await play(
      ONE_POD,
      `${RUNNING}; driver kill; delete; advance 10s; driver start; wait clean`,
    );
    expect(played.outcome.failure).toBeUndefined();
    const [call] = callsOf(played, 'NodeUnpublishVolume');
    expect(call).toMatchObject({
      code: 'UNAVAILABLE',
      message:
        'connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/fake.csi.test/csi.sock: connect: connection refused"',
    });
  });

  test('killed in the middle of a stage: the answer is lost, the stage is done again', async () => {
    const scenario = rules(
      '{name: crash, match: {rpc: NodeStageVolume}, when: {times: 1}, then: [{at: mounted, process: {exit: 1}}]}',
    );
    const played = await play(ONE_POD, 'create; wait running; delete; wait clean', { scenario });
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeStageVolume').map(({ code }) => code)).toEqual(
      expect.arrayContaining(['UNAVAILABLE', 'OK']),
    );
  });
});

describe('the node restarts', () => {
  test('mounts are gone and files are not: everything is staged and published again', async () => {
    const played = await play(ONE_POD, `${RUNNING}; node reboot; wait running; delete; wait clean`);
    expect(played.outcome.failure).toBeUndefined();
    expect(work(played)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
    ]);
  });
});

describe('registration', () => {
  test('a driver that does not say who the node is stays unknown, and pods say so', async () => {
    const scenario = answers('NodeGetInfo', '3*UNAVAILABLE(no) -> ok');
    const played = await play(ONE_POD, 'create; wait running', { scenario });
    expect(played.outcome.failure).toBeUndefined();
    const gaps = callsOf(played, 'NodeGetInfo').map(({ at }) => at);
    expect(gaps).toEqual([1_000, 2_000, 4_000, 7_000]);
  });

  test('a kubelet 1.32 does not try again by itself: the driver makes its socket anew', async () => {
    const scenario = answers('NodeGetInfo', '1*UNAVAILABLE(no) -> ok');
    const played = await play(ONE_POD, 'create; wait running', { scenario, version: '1.32' });
    expect(callsOf(played, 'NodeGetInfo').map(({ at }) => at)).toEqual([1_000, 3_000]);
  });

  test('an empty node id is refused', async () => {
    const scenario = rules(
      "{name: nameless, match: {rpc: NodeGetInfo}, when: {times: 1}, then: [{respond: {merge: {node_id: ''}}}]}",
    );
    const played = await play(ONE_POD, 'create; wait running', { scenario });
    expect(played.timeline.entries.some(({ text }) => text.includes('driverNodeID must not be empty'))).toBe(
      true,
    );
    expect(played.outcome.failure).toBeUndefined();
  });

  test('a driver that is unregistered keeps its mounts, and a pod its Terminating, until it is back', async () => {
    const played = await play(
      ONE_POD,
      `${RUNNING}; plugin unregister; delete; advance 20s; assert not gone; assert calls NodeUnpublishVolume =0; plugin register; wait clean`,
    );
    expect(played.outcome.failure).toBeUndefined();
  });

  test('nothing is attached to a node whose CSINode does not have the driver', async () => {
    const played = await play(
      ONE_POD,
      'advance 1s; plugin unregister; create; wait event FailedAttachVolume',
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(
      /^AttachVolume\.Attach failed for volume "pvc-.*" : CSINode node-1 does not contain driver fake\.csi\.test$/,
    );
    expect(callsOf(played, 'ControllerPublishVolume')).toEqual([]);
  });

  test('a claim of a class of another driver says so', async () => {
    const manifests = ONE_POD.replace('provisioner: fake.csi.test', 'provisioner: other.csi.test');
    const played = await play(manifests, 'create; wait running within 1m');
    expect(played.outcome.standings[0]?.why).toContain(
      'volume data (PVC data): not bound: its StorageClass names the driver other.csi.test; registered is fake.csi.test',
    );
  });
});
