import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseScenarios } from '../../../src/scenarios/language';
import { FUNCTIONS } from '../../../src/scenarios/language/expression/functions';
import { CONDITIONS } from '../../../src/scenarios/language/one-line-keys';
import { formatProblem } from '../../../src/scenarios/language/problems';
import { rule, scenarioDocument } from '../../../src/scenarios/language/schema/document';
import { expectationKinds } from '../../../src/scenarios/language/schema/expect';
import { match } from '../../../src/scenarios/language/schema/match';
import { step } from '../../../src/scenarios/language/schema/steps';
import { when } from '../../../src/scenarios/language/schema/when';
import { POINTS } from '../../../src/scenarios/points';
import { galleryFile, galleryNames } from '../../support/gallery-files';

const DOCS = path.join(__dirname, '../../../docs');
const page = fs.readFileSync(path.join(DOCS, 'scenarios.md'), 'utf8');

it('every shipped scenario is in the table once, and every file that it names is there', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  const named = rows.flatMap((row) => {
    const link = /\[([a-z-]+)\]\(\.\.\/scenarios\/([a-z-]+)\.yaml\)/.exec(row);
    return link ? [[link[1], link[2]]] : [];
  });
  for (const [text, file] of named) expect(text).toBe(file);
  expect(named.map(([text]) => text).sort()).toEqual(galleryNames().sort());
});

it('says of those that destroy data that they do', () => {
  const destructive = galleryNames().filter((name) =>
    fs.readFileSync(galleryFile(name), 'utf8').includes('destructive: true'),
  );
  const told = [...page.matchAll(/\[([a-z-]+)\]\(\S+\) destroys data/g)].map(([, name]) => name);
  expect(told.sort()).toEqual(destructive.sort());
});

/** Examples in the pages: whole documents as they stand, and lists of rules in a document around them. */
describe.each(['scenarios.md', 'scenario-language.md'])('%s', (name) => {
  const text = fs.readFileSync(path.join(DOCS, name), 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml]) => yaml as string);

  it.each(blocks)('has an example that is right: %s', (yaml) => {
    const document = yaml.startsWith('apiVersion:')
      ? yaml
      : `apiVersion: fake-csi/v1\nkind: Scenario\nmetadata: {name: example}\n${yaml}`;
    expect(parseScenarios(document, name).problems.map(formatProblem)).toEqual([]);
  });
});

it('the example of five minutes is the shipped file', () => {
  const bare = (yaml: string) =>
    yaml
      .split('\n')
      .map((line) => line.replace(/\s*#.*$/, ''))
      .filter((line) => line !== '')
      .join('\n');
  const [, example = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? [];
  expect(bare(example)).toBe(bare(fs.readFileSync(galleryFile('lost-answer'), 'utf8')));
});

describe('the reference of the language', () => {
  const reference = fs.readFileSync(path.join(DOCS, 'scenario-language.md'), 'utf8');
  const cells = (heading: string): string[] =>
    (reference.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split(' | ')[0]?.replace(/^\| /, '') ?? '');

  it('has every named point, in order', () => {
    for (const [method, points] of Object.entries(POINTS))
      expect(reference).toContain(`| ${method} | ${points.map((point) => `\`${point}\``).join(', ')} |`);
  });

  it('has every condition of the one-line form', () => {
    const written = cells('One line').flatMap((cell) =>
      [...cell.matchAll(/`(\w+)=`/g)].map(([, key]) => key),
    );
    expect(written.sort()).toEqual([...CONDITIONS.keys()].sort());
  });

  it('has every key of spec, of a rule, of when, of a step and of an expectation', () => {
    const keysOf = (shape: object) => Object.keys(shape);
    const named = (heading: string) => cells(heading).join(' ');
    for (const key of keysOf(when.shape)) expect(named('when')).toContain(`\`${key}\``);
    for (const key of keysOf(rule.shape)) expect(named('Rules')).toContain(`\`${key}\``);
    for (const key of keysOf(step.shape).filter((name) => name !== 'at'))
      expect(named('then: steps and places')).toMatch(new RegExp(`\`${key}[:\`]`));
    for (const key of keysOf(scenarioDocument.shape.spec.shape))
      expect(named('spec')).toContain(`\`${key}\``);
    for (const key of keysOf(match.shape)) expect(named('match')).toMatch(new RegExp(`\`${key}[.\`]`));
    for (const key of keysOf(expectationKinds))
      expect(named('Expectations')).toMatch(new RegExp(`\\b${key}\\b`));
    for (const name of FUNCTIONS.keys()) expect(reference).toContain(`\`${name}\``);
  });
});
