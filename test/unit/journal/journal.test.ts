import type { JournalEntry } from '../../../src/journal/entry';
import { Journal } from '../../../src/journal/journal';

let now = 0;
const clock = { now: () => 1_700_000_000_000 + now, monotonic: () => now, sleep: async () => undefined };
const event = (name: string) => ({ type: 'event' as const, event: name, details: {} });
const names = (entries: JournalEntry[]) =>
  entries.map((entry) => (entry.type === 'event' ? entry.event : entry.type));

describe('Journal', () => {
  it('numbers and dates its entries, and gives each to its sink as one line', () => {
    const lines: string[] = [];
    const journal = new Journal({ clock, sink: { write: (line) => lines.push(line) } });
    now = 1.23456;
    journal.append(event('a\nb'));
    now = 5;
    journal.append(event('c'));
    expect(journal.entries()).toMatchObject([
      { seq: 1, at: '2023-11-14T22:13:20.001Z', mono: 1.235, event: 'a\nb' },
      { seq: 2, mono: 5, event: 'c' },
    ]);
    expect(lines.map((line) => JSON.parse(line))).toEqual(journal.entries());
    expect(lines.join('')).not.toContain('\n');
  });

  it('keeps the newest in order, and gives all to the sink', () => {
    let count = 0;
    const journal = new Journal({ clock, memory: 3, sink: { write: () => (count += 1) } });
    for (const name of 'abcdefgh') journal.append(event(name));
    expect(names(journal.entries())).toEqual(['f', 'g', 'h']);
    expect(journal.entries().map(({ seq }) => seq)).toEqual([6, 7, 8]);
    expect(count).toBe(8);
  });

  it('keeps what was said then, not what became of it', () => {
    const journal = new Journal({ clock });
    const details = { list: ['before'] };
    journal.append({ type: 'event', event: 'x', details });
    details.list.push('after');
    expect(journal.entries()[0]).toMatchObject({ details: { list: ['before'] } });
  });

  it('tells listeners until they end', () => {
    const journal = new Journal({ clock });
    const heard: JournalEntry[] = [];
    const end = journal.subscribe((entry) => heard.push(entry));
    journal.append(event('a'));
    end();
    journal.append(event('b'));
    expect(names(heard)).toEqual(['a']);
  });

  describe('waitFor', () => {
    const is = (name: string) => (entry: JournalEntry) => entry.type === 'event' && entry.event === name;

    it('finds what has been, and waits for what has not', async () => {
      const journal = new Journal({ clock });
      journal.append(event('a'));
      expect(await journal.waitFor(is('a'))).toMatchObject({ event: 'a' });
      const later = journal.waitFor(is('b'));
      journal.append(event('x'));
      journal.append(event('b'));
      expect(await later).toMatchObject({ event: 'b' });
    });

    it('gives up when it is told to, also before it began', async () => {
      const journal = new Journal({ clock });
      const patience = new AbortController();
      const wait = journal.waitFor(is('never'), patience.signal);
      patience.abort(new Error('enough'));
      await expect(wait).rejects.toThrow('enough');
      await expect(journal.waitFor(is('never'), patience.signal)).rejects.toThrow('enough');
    });
  });
});
