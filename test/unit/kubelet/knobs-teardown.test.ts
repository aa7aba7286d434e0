import * as fs from 'node:fs';
import * as path from 'node:path';
import { answers, callsOf, eventsOf, ONE_POD, play, pod, rules, withRehearsal, work } from './harness';

/** Knobs of a driver at teardown and restart, by the numbers of docs/rehearsal.md. */

test('T3: OK, and a file is left in the target: "directory not empty", and NodeUnpublishVolume again', async () => {
  const scenario = rules('{name: ok, match: {rpc: NodeUnpublishVolume}, then: [{at: instead}]}');
  await withRehearsal(ONE_POD, { scenario }, async ({ run, mounts, places, calls, logged }) => {
    await run('create; wait running');
    const { target } = places();
    await mounts.unmount(target);
    fs.writeFileSync(path.join(target, 'left'), '');
    await run('delete; wait calls NodeUnpublishVolume >=3; assert not gone');
    expect(logged(/failed to remove dir \[.*\/mount\]: remove .*: directory not empty/)).toBe(true);
    fs.rmSync(path.join(target, 'left'));
    await run('wait gone');
    expect(calls().filter((call) => call.startsWith('NodeUnpublish')).length).toBeGreaterThanOrEqual(4);
  });
});

test('T4: vol_data.json goes before an error is answered: the kubelet fails at it each 100 ms, and calls no more', async () => {
  const played = await play(
    ONE_POD,
    'create; wait running; delete; wait calls NodeUnpublishVolume INTERNAL; vol-data remove web; advance 1m; assert not gone',
    { scenario: answers('NodeUnpublishVolume', 'INTERNAL(busy)') },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(callsOf(played, 'NodeUnpublishVolume')).toHaveLength(1);
  const log = played.timeline.entries.find(({ text }) => text.includes('unmounter failed to load'));
  expect(log?.times).toBeGreaterThan(500);
});

test('T5: NodeUnstageVolume fails and a pod comes to the same node: staged and published again', async () => {
  const played = await play(
    ONE_POD,
    'create; wait running; delete; wait gone; wait calls NodeUnstageVolume INTERNAL; create web; wait running; delete; wait gone',
    { scenario: answers('NodeUnstageVolume', '1*INTERNAL(busy) -> ok') },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(work(played).slice(0, 6)).toEqual([
    'NodeStageVolume OK',
    'NodePublishVolume OK',
    'NodeUnpublishVolume OK',
    'NodeUnstageVolume INTERNAL',
    'NodeStageVolume OK',
    'NodePublishVolume OK',
  ]);
});

test('T5: the same, and a pod comes to another node: Multi-Attach', async () => {
  const manifests =
    ONE_POD.replace('WaitForFirstConsumer', 'Immediate').replace(
      'spec:\n  \n',
      'spec:\n  nodeName: node-1\n',
    ) + pod('second', 'nodeName: node-2');
  const played = await play(
    manifests,
    'create fake data web; wait running web; delete web; wait gone web; create second; advance 2m; assert not running second; assert state data in-use',
    { scenario: answers('NodeUnstageVolume', 'INTERNAL(busy)') },
  );
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'FailedAttachVolume')[0]?.message).toMatch(/^Multi-Attach error/);
});

test('T6: OK, and the stage is left mounted: the volume is detached with it', async () => {
  const scenario = rules(
    '{name: ok, match: {rpc: NodeUnstageVolume}, when: {times: 1}, then: [{at: instead}]}',
  );
  await withRehearsal(ONE_POD, { scenario }, async ({ run, mounts, places, logged }) => {
    await run('create; wait running');
    const { staging } = places();
    await run('delete; wait clean; assert calls ControllerUnpublishVolume OK');
    expect(await mounts.isMountPoint(staging)).toBe(true);
    expect(logged(/something is still mounted at .*globalmount/)).toBe(true);
    await run('create web; wait running; assert calls NodeStageVolume OK >=2');
  });
});

test('T7: somebody has a file open: EBUSY, Terminating without an event, and it heals when the file is closed', async () => {
  await withRehearsal(ONE_POD, {}, async ({ run, control, places, calls, logged }) => {
    await run('create; wait running');
    const release = await control().hold(places().target);
    await run(
      'delete; advance 20s; assert not gone; assert state data mount-uncertain; assert not event FailedMount',
    );
    const failed = calls().filter((call) => /^NodeUnpublishVolume (?!OK)/.test(call));
    expect(failed.length).toBeGreaterThan(3);
    expect(logged(/UnmountVolume\.TearDown failed for volume .*busy/i)).toBe(true);
    release();
    await run('wait clean');
  });
});

test.each(['ENOTCONN', 'EIO'])(
  'T8: the mount in the pod is dead (%s) and stays so: "failed to clean mount dir"',
  async (errno) => {
    const scenario = rules('{name: ok, match: {rpc: NodeUnpublishVolume}, then: [{at: instead}]}');
    await withRehearsal(ONE_POD, { scenario }, async ({ run, control, mounts, places, logged }) => {
      await run('create; wait running');
      const { target } = places();
      await control().kill(target, errno);
      await run('delete; wait calls NodeUnpublishVolume >=3; assert not gone');
      expect(logged(/failed to clean mount dir \[.*\/mount\]/)).toBe(true);
      await mounts.unmount(target);
      await run('wait gone');
    });
  },
);

test('T8: a driver that unmounts what is dead gets the pod out', async () => {
  await withRehearsal(ONE_POD, {}, async ({ run, control, places }) => {
    await run('create; wait running');
    await control().kill(places().target, 'ENOTCONN');
    await run('delete; wait clean');
  });
});

test('T9: another bind of the stage holds NodeUnstageVolume back, until it is gone', async () => {
  await withRehearsal(ONE_POD, {}, async ({ run, mounts, places, calls, logged }) => {
    await run('create; wait running');
    const { staging, globalFolder } = places();
    const elsewhere = path.join(globalFolder, 'elsewhere');
    fs.mkdirSync(elsewhere);
    await mounts.bind(staging, elsewhere);
    await run('delete; wait gone; advance 1m; assert state data in-use');
    expect(calls().filter((call) => call.startsWith('NodeUnstage'))).toEqual([]);
    expect(
      logged(/GetDeviceMountRefs check failed .* is still mounted by other references \[.*elsewhere\]/),
    ).toBe(true);
    await mounts.unmount(elsewhere);
    fs.rmdirSync(elsewhere);
    await run('wait clean; assert calls NodeUnstageVolume =1');
  });
});

test.each([
  ['missing', (file: string) => fs.rmSync(file), true],
  ['empty', (file: string) => fs.truncateSync(file), false],
] as const)('K5: the global vol_data.json is %s: no NodeUnstageVolume is sent', async (_, damage, goes) => {
  await withRehearsal(ONE_POD, {}, async ({ run, places, calls, logged }) => {
    await run('create; wait running');
    damage(path.join(places().globalFolder, 'vol_data.json'));
    await run(
      goes ? 'delete; wait gone; wait clean' : 'delete; wait gone; advance 1m; assert state data in-use',
    );
    expect(calls().filter((call) => call.startsWith('NodeUnstage'))).toEqual([]);
    if (!goes) expect(logged(/UnmountDevice failed .* failed to parse volume data file .*EOF/)).toBe(true);
  });
});
