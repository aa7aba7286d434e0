import * as fs from 'node:fs';
import { Journal } from '../../../src/journal/journal';
import { NdjsonFile } from '../../../src/journal/ndjson-file';
import { parseMoment } from '../../../src/journal/query';
import { Timeline } from '../../../src/journal/timeline';
import { systemClock } from '../../../src/util/clock';
import { silentLog } from '../../support/driver';
import { answered, EPOCH, event, iso, JournalFolder, received } from './journal-support';

let files: JournalFolder;
let timeline: Timeline;
beforeEach(() => {
  files = new JournalFolder();
  timeline = new Timeline({ folder: files.folder, clock: systemClock });
});
afterEach(() => files.remove());

const numbers = async (query = {}) => (await timeline.calls(query)).map(({ call }) => call);

describe('Timeline', () => {
  it('is empty where nothing is, also without the folder', async () => {
    expect(await timeline.calls()).toEqual([]);
    const nowhere = new Timeline({ folder: `${files.folder}/none`, clock: systemClock });
    expect(await nowhere.calls()).toEqual([]);
  });

  it('joins what was received and what was answered, across rotation and half lines', async () => {
    files.add('node', 0, received(1, 'NodeStageVolume', { volumeId: 'v', stagingTargetPath: '/s' }));
    files.raw('node', '{"seq":9,"at":"2026-01-01T00:00:0');
    files.raw('node', '\n[]\n{"seq":1}\nnull\n');
    files.rotate('node');
    const misses = [{ rule: 's/r', key: 'node', found: '"a"', wanted: 'b' }];
    files.add('node', 5, answered(1, 'NodeStageVolume', { code: 'INTERNAL', message: 'no', misses }));
    expect(await timeline.calls()).toEqual([
      {
        process: 'node',
        call: 1,
        seq: 1,
        method: 'NodeStageVolume',
        volumeId: 'v',
        stagingTargetPath: '/s',
        at: iso(0),
        atMs: EPOCH,
        mono: 0,
        request: {},
        code: 'INTERNAL',
        message: 'no',
        durationMs: 1,
        effects: [],
        fired: [],
        misses,
        pending: false,
        endedSeq: 2,
        endedAtMs: EPOCH + 5,
      },
    ]);
  });

  it('tells a call that runs from one that its process took with it', async () => {
    files.add('node', 0, received(1));
    files.add('node', 1, event('started'));
    files.add('node', 2, received(1));
    files.add('other', 3, event('started'));
    const calls = await timeline.calls();
    expect(calls).toMatchObject([{ pending: false, lost: true, endedSeq: 2 }, { pending: true }]);
  });

  it('knows the rule that ended the process of a call that was never answered', async () => {
    files.add('node', 0, received(1));
    files.add('node', 1, event('fired', { rule: 'crash/die', call: 1 }));
    files.add('node', 2, event('started'));
    expect(await timeline.calls({ fired: 'crash/*' })).toMatchObject([{ lost: true, fired: ['crash/die'] }]);
    expect(await timeline.calls({ fired: 'other/*' })).toEqual([]);
  });

  it('merges processes by time, and finds node calls by the claim of their volume', async () => {
    const parameters = { 'csi.storage.k8s.io/pvc/name': 'data-0', 'csi.storage.k8s.io/pvc/namespace': 'db' };
    files.add('controller', 0, received(1, 'CreateVolume', { request: { name: 'pvc-1', parameters } }));
    files.add('controller', 1, answered(1, 'CreateVolume', { response: { volume: { volume_id: 'v1' } } }));
    files.add('node', 2, received(1, 'NodeStageVolume', { volumeId: 'v1' }));
    files.add('controller', 3, received(2, 'ControllerGetVolume', { volumeId: 'v2' }));
    files.add('node', 4, answered(1, 'NodeStageVolume', { volumeId: 'v1', fired: ['slow/first'] }));
    const all = await timeline.calls();
    expect(all.map(({ method }) => method)).toEqual([
      'CreateVolume',
      'NodeStageVolume',
      'ControllerGetVolume',
    ]);
    for (const [query, methods] of [
      [{ pvc: 'db/data-*' }, ['CreateVolume', 'NodeStageVolume']],
      [{ pvc: 'data-0', rpc: ['Node*'] }, ['NodeStageVolume']],
      [{ pvc: 'web/data-0' }, []],
      [{ volume: 'v1' }, ['CreateVolume', 'NodeStageVolume']],
      [{ volume: 'v?', rpc: ['Controller*'] }, ['ControllerGetVolume']],
      [{ code: ['OK'] }, ['CreateVolume', 'NodeStageVolume']],
      [{ fired: 'first' }, ['NodeStageVolume']],
      [{ fired: 'slow/*' }, ['NodeStageVolume']],
      [{ fired: 'fast/*' }, []],
    ] as const)
      expect([query, (await timeline.calls(query)).map(({ method }) => method)]).toEqual([query, methods]);
  });

  it('knows the node of a process from its start or its NodeGetInfo', async () => {
    files.add('a', 0, event('started', { nodeId: 'worker-1' }));
    files.add('a', 1, received(1));
    files.add('b', 2, received(1, 'NodeGetInfo'));
    files.add('b', 3, answered(1, 'NodeGetInfo', { response: { node_id: 'worker-2' } }));
    files.add('b', 4, received(2));
    expect((await timeline.calls({ rpc: ['NodeStage*'] })).map(({ nodeId }) => nodeId)).toEqual([
      'worker-1',
      'worker-2',
    ]);
  });

  it('begins and ends where it is told to', async () => {
    for (let i = 1; i <= 6; i++) {
      files.add('node', i * 1000, received(i));
      if (i === 2) files.add('node', i * 1000, event('mark', { name: 'begin' }));
      if (i === 5) files.add('other', 5_500, event('mark', { name: 'end' }));
      files.add('node', i * 1000 + 1, answered(i));
    }
    expect(await numbers({ since: { kind: 'mark', name: 'begin' } })).toEqual([3, 4, 5, 6]);
    expect(
      await numbers({ since: { kind: 'mark', name: 'begin' }, until: { kind: 'mark', name: 'end' } }),
    ).toEqual([3, 4, 5]);
    expect(await numbers({ since: { kind: 'mark', name: undefined } })).toEqual([6]);
    expect(await numbers({ since: { kind: 'time', ms: EPOCH + 4000 } })).toEqual([4, 5, 6]);
    expect(await numbers({ until: { kind: 'time', ms: EPOCH + 2000 } })).toEqual([1, 2]);
    expect(await numbers({ since: { kind: 'seq', seq: 8 } })).toEqual([4, 5, 6]);
    expect(await numbers({ limit: 2 })).toEqual([5, 6]);
    expect(await numbers({ limit: 0 })).toEqual([]);
    await expect(numbers({ since: { kind: 'mark', name: 'x' } })).rejects.toThrow(
      'the journal has no mark "x"; there are begin, end',
    );
  });

  it('keeps the newest by arrival, whatever order they end in', async () => {
    for (let i = 1; i <= 500; i++) files.add('node', i, received(i));
    for (let i = 500; i >= 1; i--) files.add('node', 1000, answered(i));
    expect(await numbers({ limit: 3 })).toEqual([498, 499, 500]);
  });

  it('adds what is in memory and not yet in the file', async () => {
    const file = new NdjsonFile(`${files.folder}/me.ndjson`, silentLog);
    await file.open();
    const journal = new Journal({ clock: systemClock, sink: file });
    const live = new Timeline({ folder: files.folder, clock: systemClock, live: { process: 'me', journal } });
    journal.append(received(1));
    expect(fs.readFileSync(`${files.folder}/me.ndjson`, 'utf8')).toBe('');
    expect(await live.calls()).toMatchObject([{ call: 1, process: 'me' }]);
    await file.close();
    expect(await live.calls()).toMatchObject([{ call: 1 }]);
  });
});

describe('parseMoment', () => {
  it.each([
    ['10m', { kind: 'time', ms: EPOCH - 600_000 }],
    ['10m ago', { kind: 'time', ms: EPOCH - 600_000 }],
    ['99999999999999h', { kind: 'time', ms: 0 }],
    ['1h30m', { kind: 'time', ms: EPOCH - 5_400_000 }],
    ['2026-01-01T00:00:01Z', { kind: 'time', ms: EPOCH + 1000 }],
    ['#12', { kind: 'seq', seq: 12 }],
    ['12', { kind: 'seq', seq: 12 }],
    ['mark', { kind: 'mark', name: undefined }],
    ['mark:12', { kind: 'mark', name: '12' }],
    ['upgrade', { kind: 'mark', name: 'upgrade' }],
  ])('reads %s', (text, moment) => expect(parseMoment(text, EPOCH)).toEqual(moment));

  it.each(['', '2026-13-45'])('refuses "%s"', (text) =>
    expect(() => parseMoment(text, EPOCH)).toThrow('since: expected'),
  );
});
