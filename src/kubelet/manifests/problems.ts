/** What is wrong with a manifest, and where. */
export interface ManifestProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Every problem of the files, each as a line that editors jump to. */
export class ManifestProblems extends Error {
  override readonly name = 'ManifestProblems';

  /** As the command line prints problems. */
  readonly errors: readonly (ManifestProblem & { readonly path: string; readonly severity: 'error' })[];

  constructor(readonly problems: readonly ManifestProblem[]) {
    super(
      problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`).join('\n'),
    );
    this.errors = problems.map((problem) => ({ ...problem, path: '', severity: 'error' }));
  }
}
