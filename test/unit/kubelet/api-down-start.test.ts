import { parseSteps } from '../../../src/kubelet/steps/grammar';
import { eventsText, jsonText, timelineText } from '../../../src/kubelet/timeline/formats';
import { passed, RUNNING, saidAt, triedBefore, why } from './api-down';
import { ONE_POD, play, work } from './harness';

describe('a kubelet starts while the API server is down', () => {
  test.each(['1.32', '1.36'] as const)(
    '%s: it finds volumes on its disk, and does nothing with them before it has heard of all pods',
    async (version) => {
      const played = await passed(
        ONE_POD,
        `${RUNNING}; api stop; kubelet restart; advance 10m; assert state data mount-uncertain; assert state data stage-uncertain; assert calls NodeUnpublishVolume =0; assert calls NodePublishVolume =1; api start; wait state data mounted within 8m; assert running`,
        { version },
      );
      expect(work(played)).toEqual([
        'NodeStageVolume OK',
        'NodePublishVolume OK',
        'NodeStageVolume OK',
        'NodePublishVolume OK',
      ]);
      expect(saidAt(played, /^Waiting for node sync before watching apiserver pods$/)).toBe(
        saidAt(played, /^API server down/),
      );
      expect(
        saidAt(played, /^Failed to contact API server when waiting for CSINode publishing: Get/),
      ).toBeDefined();
      expect(triedBefore(played, saidAt(played, /^API server up/) ?? Number.NaN)).toEqual([]);
      expect(saidAt(played, /^Watching apiserver/)).toBeGreaterThanOrEqual(
        saidAt(played, /^API server up/) ?? Number.NaN,
      );
    },
  );

  test('the volumes of a pod that is gone are torn down then, and its folder is no orphan before', async () => {
    const played = await passed(
      ONE_POD,
      `${RUNNING}; kubelet stop; force-delete web; api stop; kubelet start; advance 5m; assert state data mount-uncertain; assert calls NodeUnpublishVolume =0; api start; wait clean within 8m`,
    );
    expect(work(played)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
    ]);
    const up = saidAt(played, /^API server up/) ?? Number.NaN;
    expect(saidAt(played, /^Orphaned pod found/) ?? up).toBeGreaterThanOrEqual(up);
    expect(triedBefore(played, up)).toEqual([]);
  });

  test('a pod that was deleted meanwhile is mounted once more until its containers have ended, as after any restart', async () => {
    const played = await passed(
      ONE_POD,
      `${RUNNING}; kubelet stop; delete; api stop; kubelet start; advance 1m; assert calls NodePublishVolume =1; api start; wait clean within 5m`,
    );
    expect(work(played).slice(2)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
    ]);
  });

  test.each(['1.32', '1.36'] as const)(
    '%s: a driver answers NodeGetInfo and is not registered; what CSINode says stays, and it is tried again',
    async (version) => {
      const played = await passed(
        ONE_POD,
        `${RUNNING}; api stop; kubelet restart; advance 5m; assert calls NodeGetInfo >=4; api start; wait state data mounted within 5m; delete; wait clean`,
        { version },
      );
      const up = saidAt(played, /^API server up/) ?? Number.NaN;
      expect(
        saidAt(
          played,
          /plugin registration failed with err: error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: Get "\/api\/v1\/nodes\/node-1": dial tcp/,
        ),
      ).toBeLessThan(up);
      const registered = played.timeline.entries.filter(({ text }) =>
        /^CSINode node-1: driver .* registered/.test(text),
      );
      expect(registered.map(({ at }) => at > up)).toEqual([false, true]);
      // A kubelet of 1.32 knows it half, and takes it out before it registers the socket that was made anew.
      expect(saidAt(played, /^CSINode node-1: driver .* removed/) ?? up).toBeGreaterThanOrEqual(up);
    },
  );

  test('a driver that goes is forgotten, and stays in CSINode', async () => {
    const played = await passed(ONE_POD, `${RUNNING}; api stop; plugin unregister; advance 5s`);
    const [node] = played.rehearsal.cluster.allNodes();
    expect(node?.kubelet?.csi.isRegistered('fake.csi.test')).toBe(false);
    expect([...(node?.object.csiDrivers.keys() ?? [])]).toEqual(['fake.csi.test']);
    expect(saidAt(played, /^kubernetes\.io\/csi: Error uninstalling CSI driver: /)).toBeDefined();
  });

  test('it says so at the end', async () => {
    const played = await passed(ONE_POD, `${RUNNING}; api stop; kubelet restart; advance 1m`);
    expect(why(played)).toMatch(/^API server \| down since \+\d+\.\ds \| the API server is down: /);
    expect(why(played)).toMatch(/pod default\/web \| Running \| the kubelet of node-1 knows no pod yet/);
  });
});

describe('steps', () => {
  test('their grammar', () => {
    expect(parseSteps('api stop; api start').map((step) => ('act' in step ? step.act : ''))).toEqual([
      'stop',
      'start',
    ]);
    for (const wrong of ['api', 'api restart', 'api stop node-1'])
      expect(() => parseSteps(wrong)).toThrow(/expected api stop\|start/);
  });

  test.each([
    'create',
    'delete',
    'force-delete web',
    'expand data 2Gi',
    'taint out-of-service',
    'delete pvc/data',
  ])('"%s" is refused, and nothing of it is done', async (step) => {
    const played = await play(ONE_POD, `${RUNNING}; api stop; ${step}`);
    expect(played.outcome.failure).toMatch(
      new RegExp(
        `^"${step}" writes to the API server, which is down since \\+\\d+\\.\\ds: \`api start\` first$`,
      ),
    );
    const { api } = played.rehearsal.cluster;
    expect(api.pods.all().map(({ deletionTimestamp }) => deletionTimestamp)).toEqual([undefined]);
    expect(api.claims.all().map(({ requestBytes }) => requestBytes)).toEqual([1024n ** 3n]);
    expect(api.nodes.all().map(({ outOfService }) => outOfService)).toEqual([false]);
  });

  test('those on processes, machines and files are not', async () => {
    await passed(
      ONE_POD,
      `${RUNNING}; api stop; driver restart; vol-data corrupt web; kubelet restart; node reboot; api start; wait running within 8m`,
    );
  });

  test.each(['wait state data detached within 10m', 'assert state data detached'])(
    '"%s" that does not come true names the API server',
    async (step) => {
      const played = await play(ONE_POD, `${RUNNING}; delete; api stop; ${step}`);
      expect(played.outcome.failure).toMatch(
        /the API server is down since \+\d+\.\ds, and nobody reads or writes an object before `api start`$/,
      );
      expect(why(played)).toMatch(/^API server \| down since/);
      expect(why(played)).toMatch(/pod default\/web \| Terminating/);
    },
  );

  test('to stop what is down, or to start what runs, does nothing', async () => {
    const played = await passed(ONE_POD, 'api start; api stop; api stop; api start; create; wait running');
    expect(played.timeline.entries.filter(({ who }) => who === 'kube-apiserver')).toHaveLength(2);
  });

  test('the same seed gives the same bytes, another seed other moments', async () => {
    const steps = `${RUNNING}; api stop; kubelet restart; advance 5m; node reboot; api start; wait running; delete; wait clean`;
    const told = async (seed: number) => {
      const played = await passed(ONE_POD, steps, { seed });
      const { timeline, events, outcome } = played;
      return timelineText(timeline.entries) + eventsText(events) + jsonText(timeline, events, outcome);
    };
    const first = await told(7);
    expect(await told(7)).toBe(first);
    expect(await told(8)).not.toBe(first);
  });
});
