import * as fs from 'node:fs';
import * as path from 'node:path';

const { LINE_NAMES, USUAL_LINE, lineFolder } = require('../../../scripts/lib/cluster/lines.cjs') as {
  LINE_NAMES: readonly string[];
  USUAL_LINE: string;
  lineFolder(line: string, name: string): string;
};

/** Calls of played cases, and what was seen with scenarios armed. */
export type Kind = 'golden' | 'seen';

/**
 * What a real cluster did, kept to be held to. There is one file for all lines of Kubernetes that did the same, and names them;
 * a line that did another thing has a file of its own.
 */
export interface Kept {
  readonly name: string;
  readonly title: string;
  /** Of Kubernetes, such as v1.36.2: those that did this. */
  readonly versions: readonly string[];
  readonly text: string;
}

/** v1.36.2 is of the line 1.36. */
export const lineOf = (version: string): string => version.replace(/^v(\d+\.\d+)\..*$/, '$1');

const fileOf = (kind: Kind, name: string, line: string): string =>
  path.join(lineFolder(line, kind), `${name}.txt`);

function readFile(kind: Kind, name: string, line: string): Kept | undefined {
  const file = fileOf(kind, name, line);
  if (!fs.existsSync(file)) return undefined;
  const found = /^#(.*)\n# Kubernetes (v.*)\n([\s\S]*)$/.exec(fs.readFileSync(file, 'utf8'));
  if (!found) throw new Error(`${file}: expected "# title", "# Kubernetes v1.36.2" and what was seen`);
  const [, title = '', versions = '', text = ''] = found;
  return { name, title: title.trim(), versions: versions.split(', '), text };
}

function writeFile(kind: Kind, line: string, { name, title, versions, text }: Kept): void {
  const file = fileOf(kind, name, line);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `# ${title}`.trimEnd().concat(`\n# Kubernetes ${versions.join(', ')}\n${text}`));
}

/** @returns undefined where nothing was seen on this line. */
export function readKept(kind: Kind, name: string, line: string): Kept | undefined {
  const own = readFile(kind, name, line);
  if (own) return own;
  const common = readFile(kind, name, USUAL_LINE);
  return common?.versions.some((version) => lineOf(version) === line) ? common : undefined;
}

/** All files, each once. */
export function everyKept(kind: Kind): Kept[] {
  return LINE_NAMES.flatMap((line) => {
    const folder = lineFolder(line, kind);
    const files = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
    return files.flatMap((file) => readFile(kind, file.replace(/\.txt$/, ''), line) ?? []);
  });
}

/** @param isSame whether what was kept says the same as what is seen now, and need not be kept twice. */
export function keep(
  kind: Kind,
  { version, ...seen }: Omit<Kept, 'versions'> & { readonly version: string },
  isSame: (kept: string) => boolean,
): void {
  const line = lineOf(version);
  const common = readFile(kind, seen.name, USUAL_LINE);
  const others = (common?.versions ?? []).filter((one) => lineOf(one) !== line);
  const same = common !== undefined && isSame(common.text);
  if (line === USUAL_LINE) {
    writeFile(kind, line, { ...seen, versions: [version, ...(same ? others : [])] });
    return;
  }
  if (common) writeFile(kind, USUAL_LINE, { ...common, versions: same ? [...others, version] : others });
  if (same) fs.rmSync(fileOf(kind, seen.name, line), { force: true });
  else writeFile(kind, line, { ...seen, versions: [version] });
}
