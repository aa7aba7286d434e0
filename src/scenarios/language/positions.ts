import { isScalar, type LineCounter, type Node } from 'yaml';
import type { Position } from '../model';
import type { Source } from './plain';

export type Path = readonly (string | number)[];

/** Finds the place of a value by its path. What is not there is shown at the nearest thing around it that is. */
export interface Locator {
  value(path: Path, offset?: number): Position;
  key(path: Path): Position;
}

export function yamlLocator(source: Source, lines: LineCounter, documentOffset: number): Locator {
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const find = (path: Path): { found: Source; whole: boolean } => {
    let found = source;
    for (const step of path) {
      const next = found.entries.get(step);
      if (next === undefined) return { found, whole: false };
      found = next;
    }
    return { found, whole: true };
  };
  const start = (node: Node | undefined): number | undefined => node?.range?.[0];
  return {
    value(path, offset) {
      const { found, whole } = find(path);
      const from = start(found.node) ?? start(found.key) ?? documentOffset;
      return at(offset === undefined || !whole ? from : (inside(found.node, offset) ?? from));
    },
    key(path) {
      const { found } = find(path);
      return at(start(found.key) ?? start(found.node) ?? documentOffset);
    },
  };
}

/** Where a character of a text stands in the file; undefined where quoting or folding has moved it. */
function inside(node: Node | undefined, offset: number): number | undefined {
  if (!isScalar(node) || typeof node.value !== 'string' || node.range == null) return undefined;
  const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
  if (!quoted && node.type !== 'PLAIN') return undefined;
  if (node.source !== node.value) return undefined;
  const written = node.range[1] - node.range[0] - (quoted ? 2 : 0);
  return written === node.value.length ? node.range[0] + (quoted ? 1 : 0) + offset : undefined;
}

/** For what was never written as a file. */
export const nowhere: Locator = {
  value: () => ({ line: 1, column: 1 }),
  key: () => ({ line: 1, column: 1 }),
};
