import { type Document, isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { type ManifestProblem, ManifestProblems } from './problems';
import { type Kind, type ManifestOf, schemas, WITHOUT_BEARING } from './schemas';

/** One document of a file, checked field by field, with its place. */
export type Manifest = Checked | LeftOut;

/** Something that no volume depends on. */
interface LeftOut {
  readonly kind: 'LeftOut';
  /** `Service web` */
  readonly what: string;
  at(path: Path, message: string): ManifestProblem;
}

type Checked = {
  [K in Kind]: {
    readonly kind: K;
    readonly manifest: ManifestOf<K>;
    at(path: Path, message: string): ManifestProblem;
  };
}[Kind];

export type Path = readonly (string | number)[];

/**
 * The documents of a file; a List is its items.
 * @throws ManifestProblems with everything that is wrong with the text, each at its place
 */
export function readManifests(text: string, file: string): Manifest[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const problems: ManifestProblem[] = [];
  const manifests: Manifest[] = [];
  if (!Array.isArray(documents)) return [];
  for (const document of documents) {
    const place = new Place(file, lines, document);
    for (const { message, pos } of document.errors.slice(0, 1))
      problems.push({ file, ...place.position(pos[0]), message: `YAML: ${message}` });
    // An empty document, as between two dashes, is nothing.
    if (document.errors.length > 0 || document.toJS() === null) continue;
    const value = document.toJS({ maxAliasCount: 100 }) as unknown;
    for (const [item, path] of itemsOf(value)) {
      const read = readOne(item, place.below(path), problems);
      if (read) manifests.push(read);
    }
  }
  if (problems.length > 0) throw new ManifestProblems(problems);
  return manifests;
}

interface Headed {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly items?: unknown;
}

/** Of a List, or of a list of one kind (PodList), whose items need not say their kind; else the document itself. */
function itemsOf(value: unknown): readonly (readonly [unknown, Path])[] {
  const { kind, apiVersion, items } = (typeof value === 'object' ? value : {}) as Headed;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [[value, []]];
  const itemKind = kind.slice(0, -'List'.length);
  const head = itemKind === '' ? {} : { kind: itemKind, apiVersion };
  return items.map((item: unknown, index) => [
    typeof item === 'object' && item !== null ? { ...head, ...item } : item,
    ['items', index],
  ]);
}

function readOne(value: unknown, place: Place, problems: ManifestProblem[]): Manifest | undefined {
  const { kind, metadata } = (typeof value === 'object' && value !== null ? value : {}) as Headed & {
    metadata?: { name?: unknown };
  };
  const known = Object.keys(schemas);
  const at = (path: Path, message: string) => place.at(path, message);
  if (typeof kind === 'string' && WITHOUT_BEARING.has(kind))
    return { kind: 'LeftOut', what: `${kind} ${String(metadata?.name)}`, at };
  if (typeof kind !== 'string' || !known.includes(kind)) {
    const found = kind === undefined ? 'nothing' : JSON.stringify(kind);
    problems.push(place.at(['kind'], `kind: a rehearsal knows ${known.join(', ')}; found ${found}`));
    return undefined;
  }
  const result = schemas[kind as Kind].safeParse(value);
  if (result.success) return { kind, manifest: result.data, at } as Manifest;
  for (const issue of result.error.issues) problems.push(...issueProblems(issue, place));
  return undefined;
}

function issueProblems(issue: z.core.$ZodIssue, place: Place): ManifestProblem[] {
  const path = issue.path as (string | number)[];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) =>
      place.at(
        [...path, key],
        `${[...path, key].join('.')}: not a field, or one that a rehearsal does not simulate; remove it (docs/rehearsal.md lists what is)`,
      ),
    );
  const message = issue.message
    .replace(/^Invalid input: /, '')
    .replace(/, received undefined$/, ', found nothing')
    .replace(', received ', ', found ');
  return [place.at(path, `${path.join('.')}: ${message}`)];
}

class Place {
  constructor(
    private readonly file: string,
    private readonly lines: LineCounter,
    private readonly document: Document,
    private readonly prefix: Path = [],
  ) {}

  below(path: Path): Place {
    return new Place(this.file, this.lines, this.document, path);
  }

  position(offset: number): { line: number; column: number } {
    const { line, col } = this.lines.linePos(offset);
    return { line, column: col };
  }

  /** At the key that the path ends with, or at what is nearest above. */
  at(path: Path, message: string): ManifestProblem {
    return { file: this.file, ...this.position(this.offsetOf([...this.prefix, ...path])), message };
  }

  private offsetOf(path: Path): number {
    for (let length = path.length; length > 0; length--) {
      const parent = this.document.getIn(path.slice(0, length - 1), true);
      const last = path[length - 1];
      if (isMap(parent)) {
        const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
        if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0];
      }
      const node = this.document.getIn(path.slice(0, length), true) as
        | { range?: [number, number, number] }
        | undefined;
      if (node?.range) return node.range[0];
    }
    return this.document.contents?.range?.[0] ?? 0;
  }
}
