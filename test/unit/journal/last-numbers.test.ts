import * as fs from 'node:fs';
import { Journal } from '../../../src/journal/journal';
import { lastNumbers } from '../../../src/journal/last-numbers';
import { NdjsonFile } from '../../../src/journal/ndjson-file';
import { systemClock } from '../../../src/util/clock';
import { silentLog } from '../../support/driver';
import { answered, event, JournalFolder, received } from './journal-support';

let files: JournalFolder;
let file: string;
beforeEach(() => {
  files = new JournalFolder();
  file = `${files.folder}/node.ndjson`;
});
afterEach(() => files.remove());

describe('lastNumbers', () => {
  it('is nothing where nothing is', async () => {
    expect(await lastNumbers(file)).toEqual({ seq: 0, call: 0 });
    fs.writeFileSync(file, '');
    expect(await lastNumbers(file)).toEqual({ seq: 0, call: 0 });
  });

  it('sees past events, late answers, half lines and pieces of the read', async () => {
    files.add('node', 0, received(7));
    files.add('node', 0, received(8, 'NodeStageVolume', { request: { long: 'x'.repeat(200_000) } }));
    files.add('node', 1, answered(7));
    for (let i = 0; i < 3_000; i++) files.add('node', 2, event('mark', { name: `mark ${i}` }));
    files.raw('node', '{"seq":99999,"at":"20');
    expect(await lastNumbers(file)).toEqual({ seq: 3_003, call: 8 });
  });

  it('looks into the file before when this one has just begun', async () => {
    files.add('node', 0, received(5));
    files.rotate('node');
    expect(await lastNumbers(file)).toEqual({ seq: 1, call: 5 });
    files.add('node', 0, event('started'));
    expect(await lastNumbers(file)).toEqual({ seq: 2, call: 5 });
  });
});

describe('Journal with a file', () => {
  it('goes on counting where the process before was killed', async () => {
    for (let run = 0; run < 3; run++) {
      const sink = new NdjsonFile(file, silentLog);
      await sink.open();
      const journal = new Journal({ clock: systemClock, sink });
      expect(journal.lastCall).toBe(run);
      expect(journal.append(received(journal.lastCall + 1)).seq).toBe(run + 1);
      expect(journal.lastCall).toBe(run + 1);
      await sink.close();
    }
  });
});
