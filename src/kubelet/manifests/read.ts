import { type Document, isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { type ManifestProblem, ManifestProblems } from './problems';
import { type Kind, type ManifestOf, schemas } from './schemas';

/** One document of a file, checked field by field, with its place. */
export type Manifest = {
  [K in Kind]: {
    readonly kind: K;
    readonly manifest: ManifestOf<K>;
    at(path: Path, message: string): ManifestProblem;
  };
}[Kind];

export type Path = readonly (string | number)[];

/** @throws ManifestProblems with everything that is wrong with the text, each at its place */
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
    const read = readOne(document, place, problems);
    if (read) manifests.push(read);
  }
  if (problems.length > 0) throw new ManifestProblems(problems);
  return manifests;
}

function readOne(document: Document, place: Place, problems: ManifestProblem[]): Manifest | undefined {
  const value = document.toJS({ maxAliasCount: 100 }) as unknown;
  const kind = typeof value === 'object' && value !== null ? (value as { kind?: unknown }).kind : undefined;
  const known = Object.keys(schemas);
  if (typeof kind !== 'string' || !known.includes(kind)) {
    const found = kind === undefined ? 'nothing' : JSON.stringify(kind);
    problems.push(place.at(['kind'], `kind: a rehearsal knows ${known.join(', ')}; found ${found}`));
    return undefined;
  }
  const result = schemas[kind as Kind].safeParse(value);
  if (result.success)
    return {
      kind,
      manifest: result.data,
      at: (path: Path, message: string) => place.at(path, message),
    } as Manifest;
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
  ) {}

  position(offset: number): { line: number; column: number } {
    const { line, col } = this.lines.linePos(offset);
    return { line, column: col };
  }

  /** At the key that the path ends with, or at what is nearest above. */
  at(path: Path, message: string): ManifestProblem {
    return { file: this.file, ...this.position(this.offsetOf(path)), message };
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
