import * as fs from 'node:fs';
import * as path from 'node:path';
import { formatProblem, parseScenarios } from '../../../src/scenarios/language';
import { GALLERY, galleryFile, galleryNames } from '../../support/gallery-files';

const SCHEMA_LINE = '# yaml-language-server: $schema=./schema.json';

describe.each(galleryNames())('%s', (name) => {
  const text = fs.readFileSync(galleryFile(name), 'utf8');
  const { scenarios, problems } = parseScenarios(text, `${name}.yaml`);
  const [scenario] = scenarios;

  it('is one scenario of its name, without an error or a warning', () => {
    expect(problems.map(formatProblem)).toEqual([]);
    expect(scenarios.map((found) => found.name)).toEqual([name]);
  });

  it('opens with what it is, what is seen, how it heals and how to choose', () => {
    const [first, ...header] = text.slice(0, text.indexOf('\napiVersion:')).split('\n');
    expect(first).toBe(SCHEMA_LINE);
    expect(header.filter((line) => !line.startsWith('#'))).toEqual([]);
    for (const part of ['# SEEN ', '# HEALS ', '# WHERE '])
      expect(header.filter((line) => line.startsWith(part))).toHaveLength(1);
  });

  it('belongs to a group, and says of every rule that it has to fire', () => {
    expect(scenario?.labels.group).toMatch(
      /^(registration|provision|attach|mount|use|teardown|restart|chance)$/,
    );
    const told = scenario?.expect.flatMap((one) => (one.kind === 'fired' ? [one.rule] : []));
    expect(told?.sort()).toEqual(scenario?.rules.map((rule) => rule.name).sort());
  });

  it('asks for nothing that only a cluster could tell', () => {
    expect(scenario?.expect.filter(({ kind, optional }) => kind === 'unavailable' && !optional)).toEqual([]);
  });
});

it('every file has its test', () => {
  const folders = [__dirname, path.join(__dirname, '../../integration/gallery')];
  const tests = folders.flatMap((folder) =>
    fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file), 'utf8')),
  );
  const untested = galleryNames().filter((name) => !tests.some((test) => test.includes(`scene('${name}'`)));
  expect(untested).toEqual([]);
});

it('there is nothing else in the folder but the schema and what makes a ConfigMap of it', () => {
  const others = fs.readdirSync(GALLERY).filter((file) => !file.endsWith('.yaml'));
  expect(others).toEqual(['Kustomization', 'schema.json']);
});
