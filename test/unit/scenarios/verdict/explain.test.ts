import type { TimelineEntry } from '../../../../src/journal/merge';
import { explain, explanationText } from '../../../../src/scenarios/verdict/explain';
import { Story } from './story';

/** As a Timeline gives them: what the filter drops by its text does not come. */
const source = (story: Story) => ({
  async *entries(keep: (line: string) => boolean = () => true): AsyncGenerator<TimelineEntry> {
    for (const { process, ...entry } of story.entries)
      if (keep(JSON.stringify(entry))) yield { ...entry, process } as TimelineEntry;
  },
});

const armed = (story: Story, rules: unknown[]) => story.event(0, 'scenarioArmed', { scenario: 's', rules });
const text = async (story: Story, call: number) => explanationText(await explain(source(story), call));

describe('explain', () => {
  it('tells what fired, what came near, and what was for other methods', async () => {
    const story = new Story();
    armed(story, [
      { name: 'slow', methods: ['NodeStageVolume'] },
      { name: 'busy', methods: ['NodeUnstageVolume'] },
      { name: 'fail', methods: ['NodeStageVolume'] },
      { name: 'last' },
    ]);
    story.call(1, 'NodeStageVolume', 'v1', {
      code: 'INTERNAL',
      fired: ['s/fail'],
      misses: [{ rule: 's/slow', key: 'match.volume.storageClass', found: '"fast"', wanted: 'slow*' }],
    });
    expect((await text(story, 1)).split('\n')).toEqual([
      'call 1 at 2026-01-01T00:00:01.000Z NodeStageVolume v1 INTERNAL 1ms [s/fail]',
      'fired: s/fail',
      'did not fire: s/slow: volume.storageClass was "fast", wanted "slow*"',
      'not asked: s/last: another rule had fired',
      'for other methods: s/busy (NodeUnstageVolume)',
      '',
    ]);
  });

  it.each([
    ['rules by name alone', ['slow'], 'for other methods: s/slow'],
    ['rules with methods', [{ name: 'x', methods: ['Probe'] }], 'for other methods: s/x (Probe)'],
    ['none armed', [], 'no rule was armed'],
    ['nothing known', undefined, 'no rule was near: none was armed for this method'],
  ])('a call with no rule at all: %s', async (_, rules, line) => {
    const story = new Story();
    if (rules) armed(story, rules);
    story.call(1, 'NodeGetInfo');
    expect((await text(story, 1)).split('\n')[1]).toBe(line);
  });

  it('knows only what was armed when the call came', async () => {
    const story = new Story();
    armed(story, ['slow']);
    story.event(0.5, 'scenarioDisarmed', { scenario: 's' });
    story.call(1, 'NodeGetInfo');
    armed(story, ['slow']);
    expect((await explain(source(story), 1)).otherMethods).toEqual([]);
  });

  it.each([
    ['scenarioExpired', {}, 'its scenario had expired'],
    [
      'scenarioStopped',
      { why: 'stopIf node.fsFreePct < 5' },
      'its scenario had stopped itself (stopIf node.fsFreePct < 5)',
    ],
    ['scenarioDisarmed', {}, 'its scenario had been disarmed or removed'],
  ])('names rules for the method that acted no more: %s', async (event, details, why) => {
    const story = new Story();
    armed(story, [
      { name: 'slow', methods: ['NodeGetInfo'] },
      { name: 'busy', methods: ['Probe'] },
    ]);
    story.event(0.5, event, { scenario: 's', ...details });
    story.call(1, 'NodeGetInfo');
    expect((await text(story, 1)).split('\n').slice(1)).toEqual([`not armed: s/slow: ${why}`, '']);
    armed(story, [{ name: 'slow', methods: ['NodeGetInfo'] }]);
    story.call(2, 'NodeGetInfo', undefined, {
      misses: [{ rule: 's/slow', key: 'when.nth', found: 'call 1', wanted: '2' }],
    });
    expect(await text(story, 2)).not.toContain('not armed');
  });

  it('names the last of many that act no more', async () => {
    const story = new Story();
    for (let n = 0; n < 50; n += 1) {
      story.event(0, 'scenarioArmed', { scenario: `s${n}`, rules: [{ name: 'r', methods: ['Probe'] }] });
      story.event(0, 'scenarioDisarmed', { scenario: `s${n}` });
    }
    story.call(1, 'Probe');
    const { notArmed } = await explain(source(story), 1);
    expect(notArmed.map(({ rule }) => rule)).toEqual(Array.from({ length: 20 }, (_, n) => `s${n + 30}/r`));
  });

  it('says that a call runs, and that it was lost', async () => {
    const story = new Story();
    story.received(0, 'NodeStageVolume');
    expect(await text(story, 1)).toContain('it runs: what fired is known when it ends');
    story.event(1, 'started');
    expect(await text(story, 1)).toContain('its process ended before it answered: what fired is not known');
  });

  it('names the rule that ended the process of a call', async () => {
    const story = new Story();
    story.received(0, 'NodeStageVolume');
    story.event(0, 'fired', { rule: 's/die', call: 1 });
    story.event(1, 'started');
    expect((await text(story, 1)).split('\n').slice(1)).toEqual([
      'its process ended before it answered, by a rule',
      'fired: s/die',
      '',
    ]);
  });

  it('asks of which process when several have the number, and says when none has', async () => {
    const story = new Story();
    for (const process of ['a', 'b']) story.call(0, 'NodeGetInfo', undefined, { process });
    await expect(explain(source(story), 1)).rejects.toThrow(
      'call 1 is in the journals of a, b: say of which process',
    );
    expect((await explain(source(story), 1, 'b')).call.process).toBe('b');
    await expect(explain(source(story), 9)).rejects.toThrow('the journal has no call 9');
  });
});
