import { plainOf } from './plain';
import { yamlLocator } from './positions';
import type { Problem } from './problems';
import { Report } from './report';
import { readYaml } from './yaml-text';

export interface ReadDocument {
  readonly value: unknown;
  readonly report: Report;
}

/** The documents of a text that have something in them, and what is wrong with them as YAML. */
export function readDocuments(
  text: string,
  file: string,
): { documents: ReadDocument[]; problems: Problem[] } {
  const { documents, problems, lines } = readYaml(text.replace(/^\ufeff/, ''));
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
  for (const document of documents) {
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
    read.push({ value: plain.value, report });
  }
  return { documents: read, problems: all };
}
