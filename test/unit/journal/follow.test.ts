import { Journal } from '../../../src/journal/journal';
import type { TimelineEntry } from '../../../src/journal/merge';
import { Timeline } from '../../../src/journal/timeline';
import { systemClock } from '../../../src/util/clock';
import { answered, event, JournalFolder, received } from './journal-support';

let files: JournalFolder;
let patience: AbortController;
beforeEach(() => {
  files = new JournalFolder();
  patience = new AbortController();
});
afterEach(() => {
  patience.abort();
  files.remove();
});

/** Follows until `wanted` entries have come. */
async function take(timeline: Timeline, wanted: number, onCurrent: () => void): Promise<TimelineEntry[]> {
  const seen: TimelineEntry[] = [];
  let said = false;
  for await (const { entries, current } of timeline.follow({ signal: patience.signal })) {
    seen.push(...entries);
    if (current && !said) onCurrent();
    said ||= current;
    if (seen.length >= wanted) break;
  }
  return seen;
}

const names = (entries: TimelineEntry[]) =>
  entries.map((entry) => (entry.type === 'event' ? entry.event : entry.method));

describe('Timeline.follow', () => {
  it('gives what is there, and then what comes: from other files, new files and after rotation', async () => {
    files.add('a', 0, event('one'));
    const timeline = new Timeline({ folder: files.folder, clock: systemClock });
    const seen = await take(timeline, 5, () => {
      files.add('a', 1, event('two'));
      files.rotate('a');
      files.add('a', 2, event('three'));
      files.add('b', 3, event('four'));
      files.add('a', 4, event('five'));
    });
    expect(names(seen).slice(0, 1)).toEqual(['one']);
    expect(names(seen.filter(({ process }) => process === 'a'))).toEqual(['one', 'two', 'three', 'five']);
    expect(names(seen.filter(({ process }) => process === 'b'))).toEqual(['four']);
  });

  it('hears the own journal at once, each entry once', async () => {
    const lines: string[] = [];
    const journal = new Journal({
      clock: systemClock,
      sink: {
        write: (line) => {
          lines.push(line);
          files.raw('me', `${line}\n`);
        },
      },
    });
    journal.append(event('one'));
    const timeline = new Timeline({
      folder: files.folder,
      clock: systemClock,
      live: { process: 'me', journal },
    });
    const seen = await take(timeline, 4, () => {
      journal.append(event('two'));
      files.add('other', 0, event('foreign'));
      journal.append(event('three'));
    });
    expect(names(seen.filter(({ process }) => process === 'me'))).toEqual(['one', 'two', 'three']);
    expect(names(seen).filter((name) => name === 'foreign')).toHaveLength(1);
  });

  it('works without any folder', async () => {
    const journal = new Journal({ clock: systemClock });
    const timeline = new Timeline({
      folder: undefined,
      clock: systemClock,
      live: { process: 'me', journal },
    });
    const seen = await take(timeline, 1, () => void journal.append(event('one')));
    expect(names(seen)).toEqual(['one']);
  });

  it('ends when it is told to', async () => {
    const timeline = new Timeline({ folder: files.folder, clock: systemClock });
    const seen = await take(timeline, 1, () => patience.abort());
    expect(seen).toEqual([]);
  });

  it('gives calls as they arrive and end, with history only when asked', async () => {
    files.add('node', 0, received(1));
    files.add('node', 1, answered(1));
    files.add('node', 2, received(2));
    const timeline = new Timeline({ folder: files.folder, clock: systemClock });
    const collect = async (history: boolean, wanted: number, onCurrent: () => void = () => undefined) => {
      const seen: string[] = [];
      const options = { history, onCurrent, signal: patience.signal };
      for await (const { call, change } of timeline.followCalls({ rpc: ['NodeStage*'] }, options)) {
        seen.push(`${call.call} ${change}`);
        if (seen.length === wanted) break;
      }
      return seen;
    };
    expect(await collect(true, 3)).toEqual(['1 received', '1 answered', '2 received']);
    const later = await collect(false, 2, () => {
      files.add('node', 3, answered(2));
      files.add('node', 4, received(3));
    });
    expect(later).toEqual(['2 answered', '3 received']);
  });
});
