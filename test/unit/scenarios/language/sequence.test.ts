import fc from 'fast-check';
import { failed } from '../../../../src/scenarios/language/parsed';
import {
  CODE_NAMES,
  formatSequence,
  parseSequence,
  type SequenceStage,
} from '../../../../src/scenarios/language/sequence';
import { ruleOf } from './support';

function stagesOf(text: string): SequenceStage[] {
  const parsed = parseSequence(text);
  if (failed(parsed)) throw new Error(parsed.message);
  return parsed.value;
}

describe('a sequence', () => {
  it('is stages with a chance, a count, a task and its argument', () => {
    const stages = stagesOf(
      '50%2*UNAVAILABLE(busy (now)) -> 1 * delay(20s)->delay(1s..5s) -> hang -> hang(release) -> ok',
    );
    expect(stages.map(({ count, probability, task }) => [count, probability, task])).toEqual([
      [
        2,
        0.5,
        { kind: 'error', code: 'UNAVAILABLE', message: { source: 'busy (now)', parts: ['busy (now)'] } },
      ],
      [1, undefined, { kind: 'delay', delay: { kind: 'fixed', ms: 20_000 } }],
      [undefined, undefined, { kind: 'delay', delay: { kind: 'uniform', fromMs: 1000, toMs: 5000 } }],
      [undefined, undefined, { kind: 'hang', until: { kind: 'deadline' } }],
      [undefined, undefined, { kind: 'hang', until: { kind: 'release' } }],
      [undefined, undefined, { kind: 'ok' }],
    ]);
  });

  it('becomes the stages of a rule, and nothing is done in ok', () => {
    const { stages } = ruleOf(
      '{match: {rpc: Probe}, sequence: "2*DEADLINE_EXCEEDED -> 1*ABORTED(no) -> ok"}',
    );
    expect(
      stages.map(({ count, steps }) => [
        count,
        steps.map(({ place, action }) => [
          place,
          action.kind === 'error' && [action.code, action.message.render({})],
        ]),
      ]),
    ).toEqual([
      [2, [['before', ['DEADLINE_EXCEEDED', '']]]],
      [1, [['before', ['ABORTED', 'no']]]],
      [undefined, []],
    ]);
  });

  it.each([
    ['', 0, 'expected ok, delay, hang or a status code, found the end'],
    ['ok ->', 5, 'expected ok, delay, hang or a status code, found the end'],
    [
      '2*UNAVAILABEL',
      2,
      'unknown task "UNAVAILABEL" (did you mean "UNAVAILABLE"?): expected ok, delay, hang or a status code',
    ],
    ['ok, ok', 2, 'expected "->" or the end, found ", ok"'],
    ['ok -> delay(5)', 12, 'expected a duration such as 5s, found "5"'],
    ['delay(1s..5)', 10, 'expected a duration such as 5s, found "5"'],
    ['delay(5s..1s)', 6, 'expected a range that grows such as 1s..5s, found 5s..1s'],
    ['hang(for ever)', 5, 'expected deadline, release or a duration such as 60s, found "for ever"'],
    ['ABORTED(a', 9, 'expected ")"'],
    ['101%ok', 0, 'expected a chance of at most 100%, found 101%'],
    ['OK', 0, 'OK is no error: write ok'],
    ['ok(1)', 3, 'ok takes no argument'],
    [
      'ABORTED(a $' + '{volum.id})',
      12,
      'unknown name "volum" (did you mean "volume"?): expected request, volume, pod, node, call, rule or scenario',
    ],
  ])('%s is wrong from character %i on', (text, offset, message) => {
    expect(parseSequence(text)).toEqual({ message, offset });
  });

  it('is the same after it was written and read again', () => {
    const duration = fc.integer({ min: 0, max: 3_600_000 });
    const task = fc.oneof(
      fc.constant('ok'),
      fc.constantFrom(...CODE_NAMES),
      fc
        .tuple(fc.constantFrom(...CODE_NAMES), fc.stringMatching(/^[a-z ]{1,10}$/))
        .map(([code, text]) => `${code}(${text})`),
      duration.map((ms) => `delay(${ms}ms)`),
      fc.constantFrom('hang', 'hang(release)', 'hang(5s)', 'delay(1s..1m30s)'),
    );
    const stage = fc
      .tuple(fc.option(fc.integer({ min: 0, max: 100 })), fc.option(fc.nat(1000)), task)
      .map(
        ([chance, count, text]) =>
          `${chance === null ? '' : `${chance}%`}${count === null ? '' : `${count}*`}${text}`,
      );
    const meaning = (text: string) =>
      stagesOf(text).map(({ count, probability, task: found }) => ({ count, probability, task: found }));
    fc.assert(
      fc.property(fc.array(stage, { minLength: 1, maxLength: 6 }), (stages) => {
        const text = stages.join(' -> ');
        expect(meaning(formatSequence(stagesOf(text)))).toEqual(meaning(text));
      }),
    );
  });
});
