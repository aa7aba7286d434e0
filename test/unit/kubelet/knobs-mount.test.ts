import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { KubeletVersion } from '../../../src/kubelet/versions';
import {
  answers,
  CLAIM,
  callsOf,
  eventsOf,
  ONE_POD,
  play,
  pod,
  rules,
  STORAGE_CLASS,
  withRehearsal,
  work,
} from './harness';

/** Knobs of a driver at the mount, by the numbers of docs/rehearsal.md. */

test('M3: a final error although it is staged: no NodeUnstageVolume, and the volume is detached with its mount', async () => {
  const scenario = rules(
    '{name: lie, match: {rpc: NodeStageVolume}, then: [{at: after, error: {code: INTERNAL, message: could not write}}]}',
  );
  const played = await play(
    ONE_POD,
    'create; wait calls NodeStageVolume INTERNAL; assert state data not-staged; delete; wait clean',
    { scenario },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeUnstageVolume')).toEqual([]);
  expect(callsOf(played, 'ControllerUnpublishVolume').map(({ code }) => code)).toEqual(['OK']);
});

describe('M6: OK, and the target is no folder', () => {
  const scenario = rules(
    '{name: lie, match: {rpc: [NodePublishVolume, NodeUnpublishVolume]}, then: [{at: instead}]}',
  );

  test.each<[string, (target: string, elsewhere: string) => void]>([
    ['a file', (target) => fs.writeFileSync(target, 'no disk')],
    ['a link to a folder', (target, elsewhere) => fs.symlinkSync(elsewhere, target)],
    ['a link that leads nowhere', (target) => fs.symlinkSync('nowhere', target)],
  ])(
    '%s: the kubelet sees nothing wrong; what is there goes at the teardown, and nothing behind it',
    async (_, put) => {
      await withRehearsal(ONE_POD, { scenario }, async ({ run, places, calls }) => {
        await run('create; wait running');
        const { target } = places();
        const elsewhere = fs.mkdtempSync(path.join(tmpdir(), 'elsewhere-'));
        fs.writeFileSync(path.join(elsewhere, 'kept'), '');
        put(target, elsewhere);
        await run('advance 3m; assert running; assert state data mounted; delete; wait gone; wait clean');
        expect(fs.lstatSync(target, { throwIfNoEntry: false })).toBeUndefined();
        expect(fs.existsSync(path.dirname(target))).toBe(false);
        expect(fs.readdirSync(elsewhere)).toEqual(['kept']);
        fs.rmSync(elsewhere, { recursive: true });
        expect(calls()).toEqual([
          'NodeStageVolume OK',
          'NodePublishVolume OK',
          'NodeUnpublishVolume OK',
          'NodeUnstageVolume OK',
        ]);
      });
    },
  );
});

test('a file that nobody knows, left where a pod had its volumes: told of in the log each time, and nothing is removed', async () => {
  await withRehearsal(ONE_POD, {}, async ({ run, places, logged }) => {
    await run('create; wait running');
    const stray = path.join(path.dirname(path.dirname(places().target)), 'stray');
    fs.mkdirSync(stray);
    fs.writeFileSync(path.join(stray, 'file'), '');
    await run('delete; advance 1m');
    expect(
      logged(
        /^orphaned pod ".*" found, but error occurred when trying to remove the volumes dir: not a directory$/,
      ),
    ).toBe(true);
    expect(fs.readdirSync(stray)).toEqual(['file']);
    fs.rmSync(path.join(stray, 'file'));
    // Time alone does not make a rehearsed kubelet look again: something has to happen.
    await run('create; wait running');
    expect(fs.existsSync(stray)).toBe(false);
  });
});

test.each(['', 'securityContext: {fsGroup: 999}'])(
  'M7: read-only although nobody asked for it (%s): the kubelet sees nothing, the pod runs and goes',
  async (security) => {
    const played = await play(
      `${STORAGE_CLASS}${CLAIM}${pod('web', security)}`,
      'create; wait running; advance 3m; assert running; delete; wait gone; wait clean',
      {
        scenario: fs.readFileSync(path.join(__dirname, '../../../scenarios/publish-read-only.yaml'), 'utf8'),
      },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(played.events.filter(({ type }) => type === 'Warning')).toEqual([]);
    expect(work(played)).toEqual([
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
    ]);
  },
);

test('M8: a disk with another filesystem: the kernel’s words in FailedMount, never FailedMountOnFilesystemMismatch', async () => {
  const scenario = rules(
    '{name: foreign, match: {rpc: NodeStageVolume}, when: {per: volume, times: 2}, then: [{disk: {foreignFs: xfs}}]}',
  );
  const played = await play(ONE_POD, 'create; wait running', { scenario });
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedMount')[0]?.message).toMatch(/wrong fs type, bad option, bad superblock/);
  expect(eventsOf(played, 'FailedMountOnFilesystemMismatch')).toEqual([]);
});

test('M9: no staging at the first question, staging at the fourth: a publish from a stage that never was', async () => {
  const scenario = rules(
    '{name: flap, match: {rpc: NodeGetCapabilities}, when: {per: rule, times: 1}, then: [{respond: {merge: {capabilities: []}}}]}',
  );
  const played = await play(ONE_POD, 'create; wait event FailedMount; advance 1m; assert not running', {
    scenario,
  });
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeStageVolume')).toEqual([]);
  expect(callsOf(played, 'NodePublishVolume')[0]).toMatchObject({
    code: 'FAILED_PRECONDITION',
    request: { staging_target_path: expect.stringMatching(/globalmount$/) },
  });
});

describe('M10: NodeGetCapabilities fails', () => {
  const NOT = 'not-staged';
  const staged = 'staged; assert state data';
  /** What is believed right after it, by the place of the question, for a final code and for an open one. */
  test.each<[number, KubeletVersion, string, string]>([
    [1, '1.36', NOT, 'stage-uncertain'],
    [1, '1.32', NOT, NOT],
    [2, '1.36', NOT, NOT],
    [3, '1.36', NOT, 'stage-uncertain'],
    [3, '1.32', NOT, NOT],
    [4, '1.36', `${staged} not-mounted`, `${staged} not-mounted`],
    [5, '1.36', `${staged} not-mounted`, `${staged} not-mounted`],
    [6, '1.36', `${staged} not-mounted`, `${staged} mount-uncertain`],
    [6, '1.32', `${staged} not-mounted`, `${staged} not-mounted`],
  ])('at question %i, with %s', async (nth, version, afterFinal, afterOpen) => {
    for (const [code, state] of [
      ['INTERNAL', afterFinal],
      ['UNAVAILABLE', afterOpen],
    ]) {
      const scenario = rules(
        `{name: once, match: {rpc: NodeGetCapabilities}, when: {per: rule, nth: ${nth}}, then: [{error: ${code}}]}`,
      );
      const played = await play(
        ONE_POD,
        `create; wait event FailedMount; assert state data ${state}; wait running`,
        {
          scenario,
          version,
        },
      );
      expect({ code, failure: played.outcome.failure }).toEqual({ code, failure: undefined });
    }
  });

  test('at question 4, although a publish may have happened: it is forgotten, no NodeUnpublishVolume comes, and the mount keeps the pod', async () => {
    const scenario = rules(
      '{name: maybe, match: {rpc: NodePublishVolume}, when: {times: 1}, then: [{at: after, error: UNAVAILABLE}]}',
      '{name: then, match: {rpc: NodeGetCapabilities}, when: {per: rule, skip: 6}, then: [{error: UNAVAILABLE}]}',
    );
    const played = await play(
      ONE_POD,
      'create; wait state data mount-uncertain; wait state data not-mounted; delete; advance 5m; assert not gone',
      { scenario },
    );
    expect(played.outcome.failure).toBeUndefined();
    expect(callsOf(played, 'NodeUnpublishVolume')).toEqual([]);
  });
});

test('M11: the pod is deleted while its publish hangs: it does not wait for it, and after the two minutes what may be mounted is undone', async () => {
  const played = await play(
    ONE_POD,
    'create; advance 15s; delete; wait gone within 3s; advance 1m; assert calls NodeUnpublishVolume =0; wait clean',
    { scenario: answers('NodePublishVolume', 'hang') },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(work(played)).toEqual([
    'NodeStageVolume OK',
    'NodePublishVolume DEADLINE_EXCEEDED',
    'NodeUnpublishVolume OK',
    'NodeUnstageVolume OK',
  ]);
});

test('M13: the mount comes after the deadline: ABORTED while it is under way, then OK', async () => {
  const scenario = rules(
    '{name: late, match: {rpc: NodeStageVolume}, when: {per: volume, times: 1}, then: [{at: beforeAttach, delay: 2m30s}]}',
  );
  const played = await play(ONE_POD, 'create; wait running', { scenario });
  expect(played.outcome.failure).toBeUndefined();
  const codes = callsOf(played, 'NodeStageVolume').map(({ code }) => code);
  expect(codes[0]).toBe('DEADLINE_EXCEEDED');
  expect(codes).toContain('ABORTED');
  expect(codes.at(-1)).toBe('OK');
});

test('M14: an open error of a repeated publish leaves the pod its mount, too', async () => {
  const manifests = `apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: fake.csi.test}
spec: {requiresRepublish: true}
---${ONE_POD}`;
  const scenario = rules(
    "{name: later, match: {rpc: NodePublishVolume}, when: {skip: 1}, sequence: '3*UNAVAILABLE(busy) -> ok'}",
  );
  const played = await play(
    manifests,
    'create; wait running; wait calls NodePublishVolume UNAVAILABLE; assert state data mounted; wait calls NodePublishVolume OK >=2; delete; wait clean',
    { scenario },
  );
  expect(played.outcome.failure).toBeUndefined();
});

test('M18: two PersistentVolumes of one handle are one volume: staged once, under the first one’s name', async () => {
  const twin = (name: string) => `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-${name}}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {name: ${name}}
  csi: {driver: fake.csi.test, volumeHandle: shared-1, volumeAttributes: {size: 1Gi}}
---${CLAIM.replace('{name: data}', `{name: ${name}}`).replace('storageClassName: fake', 'storageClassName: ""')}${pod(`pod-${name}`).replace('claimName: data', `claimName: ${name}`)}`;
  const played = await play(
    STORAGE_CLASS + twin('one') + twin('two'),
    'create; wait calls NodePublishVolume >=2',
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeStageVolume').filter(({ code }) => code === 'OK')).toHaveLength(1);
  const stagings = callsOf(played, 'NodePublishVolume').map(
    ({ request }) => (request as { staging_target_path?: string }).staging_target_path,
  );
  expect(new Set(stagings).size).toBe(1);
});

test('M19: an open error of NodeExpandVolume is tried again, and ends no claim', async () => {
  const played = await play(
    ONE_POD,
    'create; wait running; expand data 2Gi; wait calls NodeExpandVolume ABORTED; wait event FileSystemResizeSuccessful',
    { scenario: answers('NodeExpandVolume', '2*ABORTED(busy) -> ok') },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(played.rehearsal.cluster.api.claims.get('default/data')?.resizeStatus).toBeUndefined();
});

describe('M20: NodeGetVolumeStats', () => {
  const steps =
    'create; wait running; wait calls NodeGetVolumeStats >=2; assert running; assert state data mounted';
  test.each([
    ['hangs: two minutes each, and nobody is told', answers('NodeGetVolumeStats', 'hang')],
    ['fails', answers('NodeGetVolumeStats', 'INTERNAL(no)')],
    [
      'has no usage',
      rules('{name: none, match: {rpc: NodeGetVolumeStats}, then: [{respond: {merge: {usage: []}}}]}'),
    ],
    [
      'says the volume is abnormal',
      rules(
        '{name: bad, match: {rpc: NodeGetVolumeStats}, then: [{respond: {merge: {volume_condition: {abnormal: true, message: broken}}}}]}',
      ),
    ],
  ])('%s', async (_, scenario) => {
    const played = await play(ONE_POD, steps, { scenario });
    expect(played.outcome.failure).toBeUndefined();
    expect(played.events.filter(({ type }) => type === 'Warning')).toEqual([]);
  });

  test('without usage: a line in the log', async () => {
    const scenario = rules(
      '{name: none, match: {rpc: NodeGetVolumeStats}, then: [{respond: {merge: {usage: []}}}]}',
    );
    const played = await play(ONE_POD, steps, { scenario });
    expect(played.timeline.entries.some(({ text }) => text.includes('usage is nil'))).toBe(true);
  });
});
