import { answers, callsOf, eventsOf, ONE_POD, play, rules, work } from './harness';

const DELETED = 'delete; wait gone; advance 3m';

describe('stuck attaching', () => {
  test('an error of ControllerPublishVolume is an event of the attach/detach controller; the kubelet sends nothing', async () => {
    const scenario = answers('ControllerPublishVolume', '4*PERMISSION_DENIED(no) -> ok');
    const played = await play(ONE_POD, 'create; wait event FailedAttachVolume; advance 2s', { scenario });
    const [event] = eventsOf(played, 'FailedAttachVolume');
    expect(event).toMatchObject({
      type: 'Warning',
      object: 'Pod default/web',
      source: 'attachdetach-controller',
    });
    expect(event?.message).toMatch(
      /^AttachVolume\.Attach failed for volume "pvc-.*" : rpc error: code = PermissionDenied desc = .*no$/,
    );
    expect(work(played)).toEqual([]);
    expect(played.outcome.standings[0]?.why[0]).toMatch(
      /stuck attaching: the kubelet sends no call before: ControllerPublishVolume fails \(\d+ times\): rpc error: code = PermissionDenied.*next try in/,
    );
  });

  test('external-attacher tries again after 1, 2, 4, 8 seconds, and it heals', async () => {
    const scenario = answers('ControllerPublishVolume', '4*PERMISSION_DENIED(no) -> ok');
    const played = await play(ONE_POD, 'create; wait running', { scenario });
    expect(played.outcome.passed).toBe(true);
    const at = callsOf(played, 'ControllerPublishVolume').map((call) => call.at);
    const gaps = at.slice(1).map((moment, index) => Math.round((moment - (at[index] ?? 0)) / 1_000));
    expect(gaps).toEqual([1, 2, 4, 8]);
  });

  test('a hang is told after two minutes, in the words of the controller', async () => {
    const scenario = answers('ControllerPublishVolume', 'hang');
    const played = await play(ONE_POD, 'create; wait event FailedAttachVolume', { scenario });
    const [call] = callsOf(played, 'ControllerPublishVolume');
    expect(call).toMatchObject({ code: 'DEADLINE_EXCEEDED', durationMs: 15_000 });
    expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(
      /context deadline exceeded|timed out waiting for external-attacher of fake\.csi\.test CSI driver to attach volume vol-/,
    );
  });
});

describe('stuck mounting', () => {
  test('a final error of NodeStageVolume: FailedMount with doubling gaps, nothing kept, no NodeUnstageVolume', async () => {
    const scenario = answers('NodeStageVolume', 'INTERNAL(broken)');
    const played = await play(
      ONE_POD,
      `create; wait calls NodeStageVolume INTERNAL >=6; assert state data not-staged; ${DELETED}`,
      { scenario },
    );
    expect(played.outcome.passed).toBe(true);
    const at = callsOf(played, 'NodeStageVolume').map((call) => call.at);
    const gaps = at.slice(1, 6).map((moment, index) => moment - (at[index] ?? 0));
    expect(gaps).toEqual([600, 1_100, 2_100, 4_100, 8_100]);
    expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(
      /^MountVolume\.MountDevice failed for volume "pvc-.*" : rpc error: code = Internal desc = .*broken$/,
    );
    expect(callsOf(played, 'NodeUnstageVolume')).toEqual([]);
    expect(callsOf(played, 'ControllerUnpublishVolume').map(({ code }) => code)).toEqual(['OK']);
  });

  test.each(['CANCELLED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'ABORTED', 'UNAVAILABLE'])(
    '%s leaves the device uncertain: NodeUnstageVolume comes although no stage succeeded',
    async (code) => {
      const scenario = answers('NodeStageVolume', `${code}(later)`);
      const played = await play(ONE_POD, `create; wait state data stage-uncertain; ${DELETED}; wait clean`, {
        scenario,
      });
      expect(played.outcome.passed).toBe(true);
      expect(work(played).at(-1)).toBe('NodeUnstageVolume OK');
      expect(callsOf(played, 'NodeUnpublishVolume')).toEqual([]);
    },
  );

  test('an open error of NodePublishVolume: NodeUnpublishVolume comes; a final one: it does not', async () => {
    const uncertain = await play(ONE_POD, `create; wait state data mount-uncertain; ${DELETED}`, {
      scenario: answers('NodePublishVolume', 'UNAVAILABLE(later)'),
    });
    expect(uncertain.outcome.passed).toBe(true);
    expect(work(uncertain).slice(-2)).toEqual(['NodeUnpublishVolume OK', 'NodeUnstageVolume OK']);
    const final = await play(ONE_POD, `create; wait calls NodePublishVolume INTERNAL; ${DELETED}`, {
      scenario: answers('NodePublishVolume', 'INTERNAL(no)'),
    });
    expect(callsOf(final, 'NodeUnpublishVolume')).toEqual([]);
    expect(work(final).at(-1)).toBe('NodeUnstageVolume OK');
    expect(eventsOf(final, 'FailedMount')[0]?.message).toMatch(/^MountVolume\.SetUp failed for volume/);
  });

  test('a hang makes no event before the two minutes of the step are over', async () => {
    const scenario = answers('NodeStageVolume', '1*hang -> ok');
    const played = await play(ONE_POD, 'create; wait calls NodeStageVolume DEADLINE_EXCEEDED; wait running', {
      scenario,
    });
    expect(callsOf(played, 'NodeStageVolume')[0]).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      durationMs: 120_000,
    });
    expect(eventsOf(played, 'FailedMount')).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/code = DeadlineExceeded desc = context deadline exceeded$/),
        count: 1,
      }),
    ]);
    expect(played.outcome.passed).toBe(true);
    expect(
      played.timeline.entries.some(
        ({ kind, text }) => kind === 'log' && text.includes('context deadline exceeded'),
      ),
    ).toBe(true);
  });

  test('says at the end what fails, what follows from that and when the next try is', async () => {
    const scenario = answers('NodeStageVolume', 'INTERNAL(broken)');
    const played = await play(ONE_POD, 'create; wait running within 60s', { scenario });
    expect(played.outcome.failure).toBe('"wait running within 60s" did not come true within 60 s');
    expect(played.outcome.standings[0]).toMatchObject({
      what: 'pod default/web',
      state: 'Pending (ContainerCreating)',
    });
    expect(played.outcome.standings[0]?.why[0]).toMatch(
      /device NotMounted, pod mount NotMounted; stuck: NodeStageVolume fails with INTERNAL \(\d+ tries\), final: the kubelet forgets the stage, no NodeUnstageVolume will follow: .*; next try in [\d.]+m?[\d.]*s/,
    );
  });
});

describe('NodeGetCapabilities fails', () => {
  test('before NodeStageVolume: final for a kubelet 1.32 whatever the code, open for 1.36', async () => {
    const scenario = answers('NodeGetCapabilities', '3*UNAVAILABLE(restarting) -> ok');
    const steps = 'create; wait event FailedMount; advance 50ms';
    const older = await play(ONE_POD, `${steps}; assert state data not-staged`, {
      scenario,
      version: '1.32',
    });
    expect(older.outcome.failure).toBeUndefined();
    const newer = await play(ONE_POD, `${steps}; assert state data stage-uncertain`, { scenario });
    expect(newer.outcome.failure).toBeUndefined();
  });
});

describe('mounted but not visible', () => {
  test('OK without a mount: the pod runs, and nobody is told', async () => {
    const scenario = rules('{name: lie, match: {rpc: NodePublishVolume}, then: [{at: instead}]}');
    const played = await play(ONE_POD, 'create; wait running', { scenario });
    expect(played.outcome.passed).toBe(true);
    expect(eventsOf(played, 'FailedMount')).toEqual([]);
  });
});

describe('fails to detach', () => {
  test('NodeUnpublishVolume fails: Terminating, no event, and the volume stays attached', async () => {
    const scenario = answers('NodeUnpublishVolume', 'INTERNAL(busy)');
    const played = await play(ONE_POD, 'create; wait running; delete; wait gone within 5m', { scenario });
    expect(played.outcome.passed).toBe(false);
    expect(played.events.filter(({ type }) => type === 'Warning')).toEqual([]);
    expect(played.rehearsal.cluster.api.attachments.all()).toHaveLength(1);
    expect(callsOf(played, 'NodeUnstageVolume')).toEqual([]);
    expect(played.outcome.standings[0]?.why[0]).toMatch(
      /pod mount Uncertain; stuck: NodeUnpublishVolume fails with INTERNAL/,
    );
  });

  test('NodeUnstageVolume fails: the pod goes, volumesInUse and the VolumeAttachment stay', async () => {
    const scenario = answers('NodeUnstageVolume', 'INTERNAL(busy)');
    const played = await play(
      ONE_POD,
      'create; wait running; delete; wait gone; advance 2m; assert state data in-use; assert state data attached',
      { scenario },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'ControllerUnpublishVolume')).toEqual([]);
  });

  test('OK with the mount left: no further NodeUnpublishVolume until the kubelet is started anew', async () => {
    const scenario = rules(
      '{name: left, match: {rpc: NodeUnpublishVolume}, when: {times: 1}, then: [{at: instead}]}',
    );
    const played = await play(
      ONE_POD,
      'create; wait running; delete; advance 5m; assert calls NodeUnpublishVolume =1; assert not gone; kubelet restart; wait clean',
      { scenario },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeUnpublishVolume')).toHaveLength(2);
    expect(
      played.timeline.entries.some(({ text }) =>
        /GetDeviceMountRefs check failed .*is still mounted by other references/.test(text),
      ),
    ).toBe(true);
  });

  test('vol_data.json is gone: nothing is sent, and the kubelet fails at it ten times a second', async () => {
    const played = await play(ONE_POD, 'create; wait running; vol-data remove web; delete; advance 62500ms');
    expect(callsOf(played, 'NodeUnpublishVolume')).toEqual([]);
    const log = played.timeline.entries.find(({ text }) =>
      text.includes('unmounter failed to load volume data file'),
    );
    expect(log?.times).toBeGreaterThan(590);
    expect(played.outcome.standings[0]?.why[0]).toMatch(/no NodeUnpublishVolume will be sent/);
  });
});
