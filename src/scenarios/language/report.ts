import { printable } from '../../util/text';
import type { ParseFailure } from './parsed';
import type { Locator, Path } from './positions';
import type { Problem } from './problems';
import { cut } from './show';

/** Collects what is wrong in one document. Paths begin at its root. */
export class Report {
  readonly problems: Problem[] = [];

  constructor(
    readonly file: string,
    readonly locator: Locator,
  ) {}

  /** Shown at the value. */
  error(path: Path, message: string, offset?: number): void {
    this.add('error', path, message, this.locator.value(path, offset));
  }

  /** Shown at the key of the value. */
  errorAtKey(path: Path, message: string, named: Path = path): void {
    this.add('error', named, message, this.locator.key(path));
  }

  warning(path: Path, message: string): void {
    this.add('warning', path, message, this.locator.value(path));
  }

  failures(path: Path, failures: readonly ParseFailure[]): void {
    for (const { message, offset } of failures) this.error(path, message, offset);
  }

  private add(
    severity: Problem['severity'],
    path: Path,
    message: string,
    { line, column }: { line: number; column: number },
  ): void {
    const below = path[0] === 'spec' ? path.slice(1) : path;
    this.problems.push({
      file: this.file,
      line,
      column,
      // A key may be any text: it must not break the line, nor be a terminal's command.
      path: below.map((step) => printable(cut(String(step)))).join('.'),
      message: printable(message),
      severity,
    });
  }
}
