import { Code, type CodeName } from '../../csi/status';
import type { Delay, HangEnd } from '../model';
import { formatDuration, parseDuration } from './durations';
import { type ParsedTemplate, parseTemplate } from './expression';
import { failed, failure, type Parsed } from './parsed';
import { quote } from './show';
import { didYouMean } from './suggest';

export type Task =
  | { readonly kind: 'ok' }
  | { readonly kind: 'error'; readonly code: CodeName; readonly message: ParsedTemplate | undefined }
  | { readonly kind: 'delay'; readonly delay: Delay }
  | { readonly kind: 'hang'; readonly until: HangEnd };

export interface SequenceStage {
  readonly count: number | undefined;
  /** 0 to 1. */
  readonly probability: number | undefined;
  readonly task: Task;
  /** Of its first character, and of the text in its brackets, into the sequence. */
  readonly offset: number;
  readonly argumentOffset: number;
}

export const CODE_NAMES = Object.keys(Code).filter((name) => !/^\d+$/.test(name)) as CodeName[];

const TASKS = ['ok', 'delay', 'hang', ...CODE_NAMES];
const MAX_SEQUENCE = 4000;

/** `2*UNAVAILABLE(busy) -> 1*delay(20s) -> 50%3*ABORTED -> ok`: stages `[p%][n*]task[(argument)]` joined by `->`. */
export function parseSequence(text: string): Parsed<SequenceStage[]> {
  if (text.length > MAX_SEQUENCE)
    return failure(`expected a sequence of at most ${MAX_SEQUENCE} characters, found ${text.length}`);
  const stages: SequenceStage[] = [];
  let position = 0;
  for (;;) {
    position = skipSpace(text, position);
    const stage = parseStage(text, position);
    if (failed(stage)) return stage;
    stages.push(stage.value.stage);
    position = skipSpace(text, stage.value.end);
    if (position >= text.length) return { value: stages };
    if (!text.startsWith('->', position))
      return failure(`expected "->" or the end, found ${quote(text.slice(position))}`, position);
    position += 2;
  }
}

function parseStage(text: string, offset: number): Parsed<{ stage: SequenceStage; end: number }> {
  const head = /^(?:(\d{1,3}(?:\.\d{1,6})?)%\s*)?(?:(\d{1,9})\s*\*\s*)?([A-Za-z_]*)/.exec(text.slice(offset));
  const [all = '', percent, count, name = ''] = head ?? [];
  const nameOffset = offset + all.length - name.length;
  if (name === '')
    return failure(`expected ok, delay, hang or a status code, found ${found(text, nameOffset)}`, nameOffset);
  if (percent !== undefined && Number(percent) > 100)
    return failure(`expected a chance of at most 100%, found ${percent}%`, offset);
  let end = offset + all.length;
  let argument: string | undefined;
  if (text[end] === '(') {
    const close = closingBracket(text, end);
    if (close < 0) return failure('expected ")"', text.length);
    argument = text.slice(end + 1, close);
    end = close + 1;
  }
  const argumentOffset = offset + all.length + 1;
  const task = parseTask(name, argument);
  if (failed(task)) {
    const inside = task.offset === undefined ? nameOffset : argumentOffset + task.offset;
    return failure(task.message, inside);
  }
  const stage: SequenceStage = {
    count: count === undefined ? undefined : Number(count),
    probability: percent === undefined ? undefined : Number(percent) / 100,
    task: task.value,
    offset,
    argumentOffset,
  };
  return { value: { stage, end } };
}

/** A failure without an offset is about the name, one with it about the argument. */
function parseTask(name: string, argument: string | undefined): Parsed<Task> {
  if (name === 'ok') {
    return argument === undefined ? { value: { kind: 'ok' } } : failure('ok takes no argument', 0);
  }
  if (name === 'delay') return delayTask(argument);
  if (name === 'hang') return hangTask(argument);
  if (!(CODE_NAMES as string[]).includes(name))
    return failure(
      name === 'OK'
        ? 'OK is no error: write ok'
        : `unknown task "${name}"${didYouMean(name, TASKS)}: expected ok, delay, hang or a status code`,
    );
  const message = argument === undefined ? undefined : parseTemplate(argument);
  if (message !== undefined && failed(message)) return failure(message.message, message.offset ?? 0);
  return { value: { kind: 'error', code: name as CodeName, message: message?.value } };
}

function delayTask(argument = ''): Parsed<Task> {
  const [from = '', to, ...more] = argument.split('..');
  if (more.length > 0) return failure(`expected delay(5s) or delay(1s..5s), found delay(${argument})`, 0);
  const first = parseDuration(from.trim());
  if (failed(first)) return failure(first.message, 0);
  if (to === undefined) return { value: { kind: 'delay', delay: { kind: 'fixed', ms: first.value } } };
  const last = parseDuration(to.trim());
  if (failed(last)) return failure(last.message, from.length + 2);
  if (last.value < first.value)
    return failure(`expected a range that grows such as 1s..5s, found ${argument}`, 0);
  return { value: { kind: 'delay', delay: { kind: 'uniform', fromMs: first.value, toMs: last.value } } };
}

function hangTask(argument = 'deadline'): Parsed<Task> {
  const until = parseHangEnd(argument.trim());
  return failed(until) ? failure(until.message, 0) : { value: { kind: 'hang', until: until.value } };
}

export function parseHangEnd(text: string): Parsed<HangEnd> {
  if (text === 'deadline' || text === 'release') return { value: { kind: text } };
  const duration = parseDuration(text);
  if (failed(duration))
    return failure(
      `expected deadline, release or a duration such as 60s, found ${quote(text)}${didYouMean(text, ['deadline', 'release'])}`,
    );
  return { value: { kind: 'time', ms: duration.value } };
}

/** The way back, for tests, and for showing what a rule does. */
export function formatSequence(stages: readonly SequenceStage[]): string {
  return stages
    .map(({ count, probability, task }) => {
      const chance = probability === undefined ? '' : `${Number((probability * 100).toFixed(6))}%`;
      return `${chance}${count === undefined ? '' : `${count}*`}${formatTask(task)}`;
    })
    .join(' -> ');
}

function formatTask(task: Task): string {
  if (task.kind === 'ok') return 'ok';
  if (task.kind === 'error')
    return task.message === undefined ? task.code : `${task.code}(${task.message.source})`;
  if (task.kind === 'hang')
    return `hang(${task.until.kind === 'time' ? formatDuration(task.until.ms) : task.until.kind})`;
  const { delay } = task;
  if (delay.kind === 'uniform')
    return `delay(${formatDuration(delay.fromMs)}..${formatDuration(delay.toMs)})`;
  return `delay(${formatDuration(delay.kind === 'fixed' ? delay.ms : 0)})`;
}

/** Messages may hold brackets as long as they come in pairs. */
function closingBracket(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  return -1;
}

function skipSpace(text: string, from: number): number {
  let position = from;
  while (/\s/.test(text[position] ?? '')) position++;
  return position;
}

const found = (text: string, offset: number): string =>
  offset >= text.length ? 'the end' : quote(text.slice(offset));
