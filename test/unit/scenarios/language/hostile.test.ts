import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import fc from 'fast-check';
import { parse } from 'yaml';
import {
  formatProblem,
  parseExpectations,
  parseRule,
  parseScenarioFile,
  parseScenarioObject,
  parseScenarios,
} from '../../../../src/scenarios/language';
import { shipped } from './shipped';
import { HEADER } from './support';

const lines = (text: string): string[] => parseScenarios(text, 'a.yaml').problems.map(formatProblem);

describe('a text that is no scenario', () => {
  it.each([
    [
      'nothing',
      '',
      'a.yaml:1:1: expected a document with apiVersion: fake-csi/v1 and kind: Scenario, found an empty file',
    ],
    [
      'comments',
      '# a\n---\n# b\n',
      'a.yaml:1:1: expected a document with apiVersion: fake-csi/v1 and kind: Scenario, found an empty file',
    ],
    ['a word', 'hello', 'a.yaml:1:1: expected a map, found "hello"'],
    ['a list', '- 1', 'a.yaml:1:1: expected a map, found a list'],
    ['binary', 'a: \u0000b', 'a.yaml:1:4: expected YAML, found binary data'],
    ['a tab', 'a:\n\tb: 1\n', 'a.yaml:2:1: YAML: a tab indents this line; YAML allows only spaces'],
    [
      'two colons',
      'a: b: c',
      'a.yaml:1:4: YAML: a second ": " in one value; write a text with ": " in quotes',
    ],
    ['an open quote', 'a: "b', 'a.yaml:1:6: YAML: a quote that is not closed'],
    [
      'an open bracket',
      'a: [1, 2',
      'a.yaml:1:9: YAML: flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['a map in a list', '- a\nb: 1', 'a.yaml:2:1: YAML: unexpected scalar at node end'],
    ['brackets', '['.repeat(100_000), 'a.yaml:1:66: nested deeper than 64 levels'],
    ['dashes', '- '.repeat(50_000), 'a.yaml:1:130: nested deeper than 64 levels'],
    [
      'a million values',
      `[${'1,'.repeat(400_000)}]`,
      'a.yaml:1:100001: too much for one scenario file: split it',
    ],
    [
      'a thousand documents',
      '--- a\n'.repeat(1000),
      'a.yaml:201:1: expected at most 200 documents in a file',
    ],
  ])('%s', (_name, text, message) => {
    expect(lines(text)).toEqual([message]);
  });

  it('is read with a byte order mark, and with lines that end in CR LF', () => {
    const text = `${HEADER}  rules: []\n`;
    expect(lines(`\ufeff${text}`)).toEqual([]);
    expect(lines(text.replaceAll('\n', '\r\n'))).toEqual([]);
  });

  it('says what YAML made of signs that people write without quotes', () => {
    const rule = (node: string) =>
      `${HEADER}  rules: [{match: {rpc: Probe, node: ${node}}, then: [{delay: 1s}]}]\n`;
    expect(lines(rule('!worker'))).toEqual([
      'a.yaml:5:38: YAML: !worker is a tag; write a text that begins with ! in quotes',
    ]);
    expect(lines(rule('*worker'))).toEqual([
      'a.yaml:5:38: YAML: *worker stands for no &worker; write a text that begins with * in quotes',
    ]);
  });

  it('does not let aliases explode, or go round', () => {
    const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(9)}]`);
    const bomb = `l0: &l0 [x]\n${levels.join('\n')}\n`;
    const from = Date.now();
    expect(lines(bomb)).toEqual([expect.stringMatching(/: aliases that stand for too much$/)]);
    expect(Date.now() - from).toBeLessThan(5_000);
    expect(lines('a: &a [*a]\n')).toEqual(['a.yaml:1:7: nested deeper than 64 levels']);
  });

  it('may use aliases with measure', () => {
    const text = `${HEADER}  rules:
  - {name: a, match: &m {rpc: Probe}, when: {times: 1}, then: [{delay: 1s}]}
  - {name: b, match: *m, then: [{delay: 2s}]}
`;
    expect(lines(text)).toEqual([]);
  });

  it('finds duplicate keys, in time that grows with their number', () => {
    expect(lines(`${HEADER}  seed: 1\n  seed: 2\n  rules: []\n`)).toEqual([
      'a.yaml:6:3: the key "seed" is there twice',
    ]);
    const keys = Array.from({ length: 25_000 }, (_, i) => `k${i}: 1`).join('\n');
    const from = Date.now();
    expect(lines(keys).length).toBeGreaterThan(0);
    expect(Date.now() - from).toBeLessThan(10_000);
  });

  it('cannot reach a prototype', () => {
    const text = `${HEADER}  machines: {constructor: {initial: a}, toString: {initial: b}}\n  rules: []\n`;
    const { scenarios, problems } = parseScenarios(text, 'a.yaml');
    expect(problems).toEqual([]);
    expect(Object.keys(scenarios[0]?.machines ?? {})).toEqual(['constructor', 'toString']);
    expect(lines(`${HEADER}  __proto__: {seed: 1}\n  rules: []\n`)).toEqual([
      'a.yaml:5:3: "__proto__" cannot be a key',
    ]);
    expect(lines(`${HEADER}  constructor: {}\n`)).toEqual(['a.yaml:5:3: unknown key "constructor"']);
    expect(({} as { seed?: unknown }).seed).toBeUndefined();
  });

  it('never makes the parsers throw', () => {
    const pieces = fc.constantFrom(
      ...shipped.slice(0, 12).flatMap(({ text }) => text.split(/(?<=[\s{}[\]:,"])/)),
      '__proto__',
      '&a',
      '*a',
      '!x',
      '---\n',
      '"',
      '|\n',
      '${',
      '/(/',
    );
    const mixed = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(mixed, fc.string({ unit: 'binary' })), (text) => {
        for (const { line, column, message } of parseScenarios(text, 'a').problems) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(message).not.toContain('\n');
        }
        parseExpectations(text, 'a');
        parseRule(text);
      }),
      { numRuns: 300 },
    );
  });
});

describe('plain data that is no scenario', () => {
  it('is told what is wrong with it, whatever stands in whatever place', () => {
    const documents = fc.constantFrom(...shipped.map(({ text }) => parse(text) as object));
    fc.assert(
      fc.property(documents, fc.nat(), fc.jsonValue({ maxDepth: 2 }), (document, at, value) => {
        const changed = replaced(document, at, value);
        for (const { message } of parseScenarioObject(changed, 'a').problems)
          expect(message).not.toContain('\n');
      }),
      { numRuns: 1000 },
    );
  });

  /** The document with another value in the place that comes at this number, counted round. */
  function replaced(document: object, at: number, value: unknown): unknown {
    const copy = structuredClone(document);
    const places: [object, string][] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, below] of Object.entries(node)) {
        places.push([node, key]);
        visit(below);
      }
    };
    visit(copy);
    const [parent, key] = places[at % places.length] ?? [copy, 'spec'];
    Object.assign(parent, { [key]: value });
    return copy;
  }
});

describe('a key that would break its line', () => {
  const NAME = '"a\\nb\\e[31m"';

  it.each([
    ['of a rule', `{${NAME}: 1, match: {rpc: Probe}, sequence: ok}`],
    [
      'of a map of patterns',
      `{match: {rpc: NodeStageVolume, volume: {attributes: {${NAME}: []}}}, sequence: ok}`,
    ],
    ['that names a machine', `{match: {rpc: Probe}, when: {machine: {${NAME}: ${NAME}}}, sequence: ok}`],
    ['of a step', `{match: {rpc: Probe}, then: [{goto: {${NAME}: ${NAME}}}]}`],
    ['of an answer', `{match: {rpc: CreateVolume}, then: [{respond: {merge: {${NAME}: 1}}}]}`],
    ['that names a rule', `{match: {rpc: Probe}, when: {after: {event: "fired:a\\nb"}}, sequence: ok}`],
  ])('%s is shown as what it is', (_where, rule) => {
    const found = lines(`${HEADER}  rules:\n  - ${rule}\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^a\.yaml:6:\d+: rules\.0\b.*(\\n|\\u000a)b/);
    expect(found[0]).not.toMatch(/\p{Cc}/u);
  });

  it('two of them are two mistakes, and long ones are cut', () => {
    const long = 'k'.repeat(5000);
    const found = lines(
      `${HEADER}  rules:\n  - {${NAME}: 1, ${long}: 1, match: {rpc: Probe}, sequence: ok}\n`,
    );
    expect(found).toHaveLength(2);
    expect(found[1]).toMatch(/: rules\.0: unknown key "k{60}…"$/);
  });
});

describe('a file that is none', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fake-csi-language-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const message = (file: string): string[] =>
    parseScenarioFile(file).problems.map((problem) => problem.message);

  it('is refused for what it is', () => {
    const large = path.join(folder, 'large.yaml');
    writeFileSync(large, '');
    truncateSync(large, 100 * 1024 * 1024);
    const latin = path.join(folder, 'latin.yaml');
    writeFileSync(latin, Buffer.from([0x61, 0x3a, 0x20, 0xe4]));
    expect(message(folder)).toEqual(['expected a file, found a folder']);
    expect(message('/dev/zero')).toEqual(['expected a file, found something that is no regular file']);
    expect(message(path.join(folder, 'none.yaml'))).toEqual(['expected a file, found nothing of this name']);
    expect(message(large)).toEqual(['expected at most 1048576 bytes, found 104857600']);
    expect(message(latin)).toEqual(['expected YAML in UTF-8, found binary data']);
  });

  it('is read when it is one', () => {
    const file = path.join(folder, 'good.yaml');
    writeFileSync(file, `${HEADER}  rules: []\n`);
    expect(parseScenarioFile(file).scenarios.map(({ name }) => name)).toEqual(['slow']);
  });
});
