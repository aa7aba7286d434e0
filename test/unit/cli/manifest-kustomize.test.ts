import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { buildKustomization } from '../../../src/cli/manifest/kustomize';
import { makeManifest } from '../../../src/cli/manifest/manifest';
import { DEFAULTS } from '../../support/manifest-options';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'fc-kustomize-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => fs.writeFileSync(path.join(folder, name), text);
const build = (kustomization: string) => {
  write('kustomization.yaml', kustomization);
  write('one.yaml', 'kind: Thing\nmetadata: {name: one}\nspec: {a: 1, list: [x], things: [{b: 1}]}');
  return () => buildKustomization(folder);
};

it.each([
  [
    'namePrefix: x-',
    /kustomization\.yaml: kustomization: expected .*, found "namePrefix".* use kubectl kustomize/,
  ],
  ['images: [{name: a, tagSuffix: b}]', /images: expected .*, found "tagSuffix"/],
  ['labels: [{pairs: {a: b}, includeSelectors: true}]', /labels: expected .*, found "includeSelectors"/],
  ['configMapGenerator: [{name: a, files: []}]', /expected generatorOptions\.disableNameSuffixHash/],
  ['configMapGenerator: [{name: a, literals: [b=c]}]', /found "literals"/],
  ['resources: [https://example.com/x.yaml]', /it cannot be read \(ENOENT\)/],
  ['resources: [one.yaml, one.yaml]', /expected each object once, found Thing one twice/],
  ['patches: [{target: {kind: Other}, patch: "[]"}]', /expected \{"kind":"Other"\} to be there/],
  ['patches: [{target: {name: o.*}, patch: "[]"}]', /expected the whole name of a target, found o\.\*/],
  ['patches: [{patch: "[]"}]', /expected either path alone, or target with patch/],
  [
    'resources: [one.yaml]\npatches: [{target: {kind: Thing}, patch: "[{op: remove, path: /spec/a}]"}]',
    /remove \/spec\/a: expected replace of a field that is there/,
  ],
  [
    'resources: [one.yaml]\npatches: [{target: {kind: Thing}, patch: "[{op: replace, path: /spec/z, value: 1}]"}]',
    /replace \/spec\/z: expected replace of a field that is there/,
  ],
])('refuses %s', (kustomization, message) => {
  expect(build(kustomization)).toThrow(message);
});

it.each([
  ['{kind: Thing, metadata: {name: one}, spec: {a: null}}', /a: expected a patch that adds or changes/],
  ['{kind: Thing, metadata: {name: one}, spec: {$patch: delete}}', /\$patch: expected a patch that adds/],
  ['{kind: Thing, metadata: {name: one}, spec: {things: [{b: 2}]}}', /things: expected one of the lists/],
  ['{kind: Thing, metadata: {name: two}}', /expected Thing two to be there/],
])('refuses the patch %s', (patch, message) => {
  write('patch.yaml', patch);
  expect(build('resources: [one.yaml]\npatches: [{path: patch.yaml}]')).toThrow(message);
});

it('merges a patch, replaces lists of words, and reads operations', () => {
  write('patch.yaml', '{kind: Thing, metadata: {name: one}, spec: {list: [y, z], more: {c: 1}}}');
  const objects = build(
    'resources: [one.yaml]\npatches: [{target: {kind: Thing}, patch: "[{op: add, path: /spec/list/-, value: w}, {op: replace, path: /spec/a, value: 2}]"}, {path: patch.yaml}]',
  )();
  expect(objects).toEqual([
    {
      kind: 'Thing',
      metadata: { name: 'one' },
      spec: { a: 2, list: ['y', 'z'], things: [{ b: 1 }], more: { c: 1 } },
    },
  ]);
});

it('says where the manifests should be, when they are not', () => {
  expect(() => makeManifest(DEFAULTS, path.join(folder, 'deploy'))).toThrow(
    /expected the manifests that come with/,
  );
});
