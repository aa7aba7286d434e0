import { stringify } from 'yaml';
import type { Scenario } from '../model';
import { buildScenario } from './build/scenario';
import { SERVICES } from './names';
import { CONDITIONS, expandCondition, MAPS } from './one-line-keys';
import type { Locator, Path } from './positions';
import { hasErrors, ordered, type Problem } from './problems';
import { Report } from './report';
import { API_VERSION, KIND } from './schema/document';
import { quote } from './show';
import { didYouMean } from './suggest';

export interface ParsedRule {
  /** A scenario file with this one rule; undefined when one of the problems is an error. */
  readonly text: string | undefined;
  /** The same, as the engine takes it. */
  readonly scenario: Scenario | undefined;
  /** Line 1; columns count into the rule as written. */
  readonly problems: Problem[];
}

export interface ParseRuleOptions {
  /** Of the scenario that the rule becomes; `one-line` when nothing else is said. */
  readonly name?: string;
  readonly expires?: string;
}

interface Word {
  readonly text: string;
  readonly offset: number;
}

const FILE = 'rule';
const MAX_LENGTH = 8000;

/**
 * The one-line form of a rule: an RPC, a service or a pattern of RPCs, then conditions, then a sequence, as in
 * `NodeStageVolume pvc=db/data-0 times=3: 2*UNAVAILABLE(busy) -> 1*delay(20s) -> ok`. Never throws.
 */
export function parseRule(text: string, options: ParseRuleOptions = {}): ParsedRule {
  const { name = 'one-line', expires } = options;
  const columns = new Map<string, number>();
  const report = new Report(FILE, textLocator(columns));
  const done = (scenario?: Scenario, written?: string): ParsedRule => {
    const failed = hasErrors(report.problems);
    return {
      text: failed ? undefined : written,
      scenario: failed ? undefined : scenario,
      // Of one line, the column says more than a path into the file it becomes.
      problems: ordered(report.problems.map((problem) => ({ ...problem, path: '' }))),
    };
  };
  if (text.length > MAX_LENGTH) {
    report.error([], `expected a rule of at most ${MAX_LENGTH} characters, found ${text.length}`);
    return done();
  }
  const split = splitRule(text);
  if ('message' in split) {
    columns.set('', split.offset);
    report.error([], split.message);
    return done();
  }
  const rule: Record<string, unknown> = { name: 'rule' };
  const put = (path: readonly string[], value: unknown, offset: number): void => {
    const whole = ['spec', 'rules', 0, ...path];
    columns.set(whole.join('\0'), offset);
    // What is wrong with a map as a whole is shown at the first condition that is in it.
    const map = whole.slice(0, 5).join('\0');
    if (!columns.has(map)) columns.set(map, offset);
    setIn(rule, path, value);
  };
  const [target, ...conditions] = split.words;
  if (target !== undefined)
    put(['match', isService(target.text) ? 'service' : 'rpc'], target.text, target.offset);
  const said = new Set<string>();
  for (const word of conditions) readCondition(word, put, columns, report, said);
  put(['sequence'], split.sequence.text, split.sequence.offset);
  const spec = { ...(expires !== undefined && { expires }), rules: [rule] };
  const document = { apiVersion: API_VERSION, kind: KIND, metadata: { name }, spec };
  return done(buildScenario(document, report), stringify(document, { lineWidth: 0 }));
}

function readCondition(
  { text, offset }: Word,
  put: (path: readonly string[], value: unknown, offset: number) => void,
  columns: Map<string, number>,
  report: Report,
  said: Set<string>,
): void {
  const equals = text.indexOf('=');
  const key = equals < 0 ? text : text.slice(0, equals);
  const fail = (message: string): void => {
    const path = ['condition', String(offset)];
    columns.set(path.join('\0'), offset);
    report.error(path, message);
  };
  if (equals <= 0) {
    fail(`expected a condition such as pvc=db/data-0, found ${quote(text)}`);
    return;
  }
  const raw = text.slice(equals + 1);
  const quoted = /^"(.*)"$/s.exec(raw) ?? /^'(.*)'$/s.exec(raw);
  const value = quoted?.[1] ?? raw;
  const expanded = expandCondition(key, value);
  if (expanded === undefined) {
    const names = [...CONDITIONS.keys(), ...[...MAPS.keys()].map((map) => `${map}.KEY`)];
    fail(`unknown condition "${key}"${didYouMean(key, names)}: expected one of ${names.join(', ')}`);
    return;
  }
  if (said.has(key)) {
    fail(`${key} is said twice: give its alternatives with "|" between them, or write a file`);
    return;
  }
  said.add(key);
  const wanted = wantedFor(key, raw, value);
  if (wanted !== undefined) {
    fail(`expected ${wanted}, found ${quote(text)}`);
    return;
  }
  const start = offset + equals + 1 + (quoted === null ? 0 : 1);
  for (const condition of expanded) put(condition.path, condition.value, start + condition.offset);
}

/** What a condition has to look like that has no value, or one that nothing can have. */
function wantedFor(key: string, raw: string, value: string): string | undefined {
  if (key !== 'pvc' && key !== 'pod') return raw === '' ? `a value after ${key}=` : undefined;
  // Kubernetes has no slash in a name; a regular expression does.
  const name = '([^/]+|!?/.+/[a-z]*)';
  const named = new RegExp(`^(${name}|[^/]+/${name})$`, 's');
  return named.test(value) ? undefined : `${key}=NAME or ${key}=NAMESPACE/NAME`;
}

/** The colon that is followed by a space: one inside of a value is part of it. */
function splitRule(text: string): { words: Word[]; sequence: Word } | { message: string; offset: number } {
  const words: Word[] = [];
  let position = 0;
  for (;;) {
    while (/\s/.test(text[position] ?? '')) position++;
    if (position >= text.length)
      return { message: 'expected ": " and a sequence such as 2*UNAVAILABLE -> ok', offset: text.length };
    const end = endOfWord(text, position);
    if (end < 0) return { message: 'a quote that is not closed', offset: position };
    const last = text[end - 1] === ':';
    const word = text.slice(position, last ? end - 1 : end);
    if (word !== '') words.push({ text: word, offset: position });
    position = end;
    if (last) break;
  }
  if (words.length === 0) return { message: 'expected an RPC such as NodeStageVolume before ":"', offset: 0 };
  while (/\s/.test(text[position] ?? '')) position++;
  return { words, sequence: { text: text.slice(position).trimEnd(), offset: position } };
}

function endOfWord(text: string, start: number): number {
  let position = start;
  while (position < text.length && !/\s/.test(text[position] as string)) {
    const char = text[position] as string;
    // Only right after the equals sign: an apostrophe inside of a value is one.
    if ((char === '"' || char === "'") && text[position - 1] === '=') {
      position = text.indexOf(char, position + 1);
      if (position < 0) return -1;
    }
    position++;
  }
  return position;
}

const isService = (word: string): boolean =>
  Object.keys(SERVICES).some((service) => service.toLowerCase() === word.toLowerCase());

function setIn(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let map = target;
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(map, step)) define(map, step, {});
    map = map[step] as Record<string, unknown>;
  }
  define(map, path.at(-1) ?? '', value);
}

/** A key of the wire may be __proto__, and assigning that would set the prototype. */
function define(map: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
}

function textLocator(columns: ReadonlyMap<string, number>): Locator {
  const column = (path: Path, offset = 0): number => {
    for (let length = path.length; length >= 0; length--) {
      const found = columns.get(path.slice(0, length).join('\0'));
      if (found !== undefined) return 1 + found + (length === path.length ? offset : 0);
    }
    return 1;
  };
  return {
    value: (path, offset) => ({ line: 1, column: column(path, offset) }),
    key: (path) => ({ line: 1, column: column(path) }),
  };
}
