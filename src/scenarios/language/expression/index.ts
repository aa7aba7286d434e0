import type { Method } from '../../../csi/rpcs';
import type { Expression } from '../../model';
import type { ParseFailure } from '../parsed';
import type { Node } from './ast';
import { checkPaths } from './check';
import { compile } from './evaluate';

export { parseExpression } from './parser';
export { buildTemplate, type ParsedTemplate, parseTemplate } from './template';

export interface ParsedExpression {
  readonly source: string;
  readonly node: Node;
}

/** The expression for calls of these methods, and what is wrong with its paths. `unset`: roots that are empty there. */
export function buildExpression(
  { source, node }: ParsedExpression,
  methods: Iterable<Method>,
  unset: readonly string[] = [],
): { expression: Expression; failures: readonly ParseFailure[] } {
  const { failures, defaults } = checkPaths(node, methods, unset);
  const evaluate = compile(node, defaults);
  return { expression: { source, evaluate }, failures };
}
