import { printable } from '../../util/text';
/** Something wrong in a scenario file, at one place. */
export interface Problem {
  /** As the caller named it; the command line's rule form calls it `rule`. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  /** Below spec, such as `rules.1.match.rpc`; `metadata.name` beside it; empty for a whole document. */
  readonly path: string;
  /** One line: what was expected, what was found, what to do. */
  readonly message: string;
  /** An error keeps the file from being used; a warning says what will be otherwise than it reads. */
  readonly severity: 'error' | 'warning';
}

/** `slow.yaml:13:5: rules.1: unknown key "tims" (did you mean "times"?)` */
export function formatProblem(problem: Problem): string {
  const { file, line, column, path, message, severity } = problem;
  const where = path === '' ? '' : `${path}: `;
  return `${printable(file)}:${line}:${column}: ${severity === 'warning' ? 'warning: ' : ''}${where}${message}`;
}

/** In the order in which a person reads the file, each once. */
export function ordered(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return [...problems]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .filter((problem) => {
      const text = formatProblem(problem);
      return !seen.has(text) && seen.add(text);
    });
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}
