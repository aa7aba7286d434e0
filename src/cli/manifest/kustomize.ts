import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { containersOf, isFields, type KubernetesObject, nameOf, templateOf } from './objects';
import { applyOperations, merge } from './patches';

/** What a kustomization may say here. Anything else is refused: half understood, it would be another installation. */
interface Kustomization {
  resources?: string[];
  components?: string[];
  patches?: { path?: string; patch?: string; target?: { kind?: string; name?: string } }[];
  labels?: { pairs: Record<string, string>; includeTemplates?: boolean }[];
  images?: { name: string; newName?: string; newTag?: string; digest?: string }[];
  configMapGenerator?: { name: string; namespace?: string; files?: string[] }[];
  generatorOptions?: { disableNameSuffixHash?: boolean; labels?: Record<string, string> };
}

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  kustomization: [
    'apiVersion',
    'kind',
    'resources',
    'components',
    'patches',
    'labels',
    'images',
    'configMapGenerator',
    'generatorOptions',
  ],
  patches: ['path', 'patch', 'target'],
  target: ['kind', 'name'],
  labels: ['pairs', 'includeTemplates'],
  images: ['name', 'newName', 'newTag', 'digest'],
  configMapGenerator: ['name', 'namespace', 'files'],
  generatorOptions: ['disableNameSuffixHash', 'labels'],
};
const FILES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/**
 * The objects of a kustomization, as `kubectl kustomize` gives them, for the features that deploy/ uses.
 * @param leaveOut whether a component is not to be taken, by its folder's real path.
 * @throws Error with one line for a feature it does not know, and for what does not fit together.
 */
export function buildKustomization(
  folder: string,
  leaveOut: (component: string) => boolean = () => false,
): KubernetesObject[] {
  const objects: KubernetesObject[] = [];
  accumulate(folder, objects, leaveOut);
  return objects;
}

function accumulate(
  folder: string,
  objects: KubernetesObject[],
  leaveOut: (component: string) => boolean,
): void {
  const { file, kustomization } = read(folder);
  for (const resource of kustomization.resources ?? []) {
    const place = path.join(folder, resource);
    if (fs.statSync(place, { throwIfNoEntry: false })?.isDirectory())
      add(objects, buildKustomization(place, leaveOut), file);
    else add(objects, objectsIn(place, file), file);
  }
  add(objects, generate(folder, kustomization, file), file);
  // A component changes what is there already, with what it adds.
  for (const component of kustomization.components ?? []) {
    const place = path.join(folder, component);
    if (!leaveOut(place)) accumulate(place, objects, leaveOut);
  }
  transform(folder, kustomization, objects, file);
}

function read(folder: string): { file: string; kustomization: Kustomization } {
  const name = FILES.find((one) => fs.existsSync(path.join(folder, one)));
  if (name === undefined) throw new Error(`${folder}: expected one of ${FILES.join(', ')} in it, found none`);
  const file = path.join(folder, name);
  const kustomization = only(parseFile(file), file);
  refuseUnknown('kustomization', kustomization, file);
  for (const key of ['patches', 'labels', 'images', 'configMapGenerator'] as const)
    for (const one of (kustomization[key] as object[] | undefined) ?? []) refuseUnknown(key, one, file);
  refuseUnknown('generatorOptions', (kustomization.generatorOptions as object | undefined) ?? {}, file);
  return { file, kustomization: kustomization as Kustomization };
}

function only(documents: object[], file: string): Record<string, unknown> {
  const [first, ...others] = documents;
  if (first === undefined || others.length > 0)
    throw new Error(`${file}: expected one document, found ${documents.length}`);
  return first as Record<string, unknown>;
}

function refuseUnknown(what: string, value: object, file: string): void {
  const known = KNOWN[what] ?? [];
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new Error(
      `${file}: ${what}: expected ${known.join(', ')}, found "${unknown}", which is not read here; use kubectl kustomize`,
    );
}

function parseFile(file: string): object[] {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file}: it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw new Error(`${file}: ${problem.message.split('\n')[0]}`);
    const value: unknown = document.toJS();
    if (value === null) return [];
    if (!isFields(value)) throw new Error(`${file}: expected objects, found ${typeof value}`);
    return [value];
  });
}

function objectsIn(place: string, from: string): KubernetesObject[] {
  return parseFile(place).map((value) => {
    const object = value as KubernetesObject;
    if (typeof object.kind === 'string' && typeof object.metadata?.name === 'string') return object;
    throw new Error(`${place} (${from}): expected an object with kind and metadata.name`);
  });
}

function add(objects: KubernetesObject[], more: readonly KubernetesObject[], file: string): void {
  for (const object of more) {
    if (objects.some((one) => nameOf(one) === nameOf(object)))
      throw new Error(`${file}: expected each object once, found ${nameOf(object)} twice`);
    objects.push(object);
  }
}

function generate(folder: string, kustomization: Kustomization, file: string): KubernetesObject[] {
  const { configMapGenerator = [], generatorOptions } = kustomization;
  if (configMapGenerator.length > 0 && generatorOptions?.disableNameSuffixHash !== true)
    throw new Error(
      `${file}: configMapGenerator: expected generatorOptions.disableNameSuffixHash: true; names with a hash are not made here`,
    );
  return configMapGenerator.map(({ name, namespace, files = [] }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...generatorOptions?.labels },
    },
    data: Object.fromEntries(
      files.map((one) => [path.basename(one), fs.readFileSync(path.join(folder, one), 'utf8')]),
    ),
  }));
}

function transform(
  folder: string,
  kustomization: Kustomization,
  objects: readonly KubernetesObject[],
  file: string,
): void {
  for (const one of kustomization.patches ?? []) patch(folder, one, objects, file);
  for (const { pairs, includeTemplates } of kustomization.labels ?? [])
    for (const { metadata, template } of objects.map((one) => ({ ...one, template: templateOf(one) }))) {
      metadata.labels = { ...metadata.labels, ...pairs };
      if (includeTemplates && template)
        template.metadata = {
          ...template.metadata,
          labels: { ...template.metadata?.labels, ...pairs },
        };
    }
  for (const { name, newName = name, newTag, digest } of kustomization.images ?? [])
    for (const container of objects.flatMap(containersOf)) {
      if (repositoryOf(container.image) !== name) continue;
      container.image = `${newName}${newTag === undefined ? '' : `:${newTag}`}${digest === undefined ? '' : `@${digest}`}`;
    }
}

/** Of `registry:5000/name:tag@digest` the part without tag and digest. */
export function repositoryOf(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
}

function patch(
  folder: string,
  { path: name, patch: text, target }: NonNullable<Kustomization['patches']>[number],
  objects: readonly KubernetesObject[],
  file: string,
): void {
  if (name !== undefined && text === undefined && target === undefined) {
    const place = path.join(folder, name);
    for (const change of objectsIn(place, file)) {
      const found = objects.find((one) => nameOf(one) === nameOf(change));
      if (!found) throw new Error(`${place}: expected ${nameOf(change)} to be there, found nothing to patch`);
      merge(found, change, place);
    }
    return;
  }
  if (text === undefined || target === undefined || name !== undefined)
    throw new Error(`${file}: patches: expected either path alone, or target with patch`);
  refuseUnknown('target', target, file);
  // A regular expression in kustomize.
  if (target.name !== undefined && !/^[a-z0-9.-]+$/.test(target.name))
    throw new Error(`${file}: patches: expected the whole name of a target, found ${target.name}`);
  const found = objects.filter(
    ({ kind, metadata }) =>
      (target.kind ?? kind) === kind && (target.name ?? metadata.name) === metadata.name,
  );
  if (found.length === 0)
    throw new Error(
      `${file}: patches: expected ${JSON.stringify(target)} to be there, found nothing to patch`,
    );
  for (const object of found) applyOperations(object, text, file);
}
