import { plainOf } from './plain';
import { yamlLocator } from './positions';
import type { Problem } from './problems';
import { Report } from './report';
import { readYaml } from './yaml-text';

export interface ReadDocument {
  readonly value: unknown;
  readonly report: Report;
  /** Its own text: what a file would hold that has this document alone. */
  readonly text: string;
}

/** The documents of a text that have something in them, and what is wrong with them as YAML. */
export function readDocuments(
  text: string,
  file: string,
): { documents: ReadDocument[]; problems: Problem[] } {
  const whole = text.replace(/^\ufeff/, '');
  const { documents, problems, lines } = readYaml(whole);
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const all: Problem[] = problems.map(({ message, offset }) => ({
    ...place(offset),
    path: '',
    message,
    severity: 'error',
  }));
  const read: ReadDocument[] = [];
  let end = 0;
  for (const document of documents) {
    // With what stands before it, as directives and comments do.
    const own = whole.slice(end, document.range[2]);
    end = document.range[2];
    if (document.errors.length > 0) continue;
    const plain = plainOf(document);
    all.push(
      ...plain.problems.map(
        ({ message, offset }): Problem => ({
          ...place(offset),
          path: '',
          message,
          severity: 'error',
        }),
      ),
    );
    if (plain.value === null || plain.value === undefined) continue;
    const report = new Report(file, yamlLocator(plain.source, lines, document.range[0]));
    read.push({ value: plain.value, report, text: alone(own) });
  }
  return { documents: read, problems: all };
}

/** Without the mark that parts it from the one before. */
function alone(text: string): string {
  return `${text.replace(/^\s*---[ \t]*\r?\n/, '').trim()}\n`;
}
