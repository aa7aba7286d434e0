import type { ExpectationTest, RegistrationOutcome } from '../../../../src/scenarios/model';
import { count, judge, Story } from './story';

const wanted = (state: RegistrationOutcome, withinMs?: number): ExpectationTest => ({
  kind: 'registration',
  state,
  withinMs,
});

describe('what the kubelet said of the driver', () => {
  const story = (...events: [number, string, object?][]) => {
    const told = new Story();
    told.event(0, 'scenarioArmed', { scenario: 's', armedAt: 1 });
    for (const [at, event, details] of events) told.event(at, event, details);
    return told;
  };

  it('is pending until it says so, and passes once it has, whatever it says later', () => {
    const registered = wanted('registered');
    expect(judge(story(), registered)).toMatchObject({
      status: 'pending',
      summary: 'the kubelet has said nothing, wanted it to be registered',
    });
    const flapping = story([5, 'registered'], [8, 'registrationWithdrawn']);
    expect(judge(flapping, registered)).toMatchObject({
      status: 'passed',
      summary: 'the driver was registered',
    });
    expect(judge(flapping, wanted('withdrawn')).status).toBe('passed');
    expect(judge(flapping, wanted('refused'), { final: true })).toMatchObject({
      status: 'failed',
      summary: 'the driver was withdrawn, wanted it to be refused',
    });
  });

  it.each([
    [89, 'passed'],
    [91, 'failed'],
  ])('at %i s, within 90 s: %s', (at, status) => {
    expect(judge(story([at, 'registered']), wanted('registered', 90_000), { at: 120 }).status).toBe(status);
  });

  it('is not what it told a second socket', () => {
    const told = story([1, 'registered'], [2, 'registrationRefused', { second: true, error: 'twice' }]);
    expect(judge(told, wanted('refused'), { final: true }).status).toBe('failed');
  });

  it('a rule that acts by time has fired as often as it says', () => {
    const told = story([40, 'fired', { rule: 's/flap', effects: [] }], [95, 'fired', { rule: 's/flap' }]);
    const fired = (rule: string): ExpectationTest => ({ kind: 'fired', rule, times: count('>=2') });
    expect(judge(told, fired('flap')).summary).toBe('rule flap fired 2 times, wanted >=2');
    expect(judge(told, fired('s/flap')).status).toBe('passed');
    expect(judge(told, fired('flop'), { final: true }).status).toBe('failed');
  });
});
