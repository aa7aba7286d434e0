import type { z } from 'zod';
import type { Path } from './positions';
import type { Report } from './report';

/** Every issue of zod as a problem at its place. `base` is where the value that was parsed lies in the document. */
export function reportIssues(report: Report, base: Path, issues: readonly z.core.$ZodIssue[]): void {
  for (const issue of issues) reportIssue(report, base, issue);
}

function reportIssue(report: Report, base: Path, issue: z.core.$ZodIssue): void {
  const path: Path = [...base, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    for (const [index, key] of issue.keys.entries())
      report.errorAtKey([...path, key], messages[index] ?? issue.message, path);
    return;
  }
  if (issue.input === undefined && issue.code !== 'custom') {
    const wanted = issue.message.replace(/, found nothing$/, '');
    report.errorAtKey(path, `missing key "${path.at(-1) ?? ''}": ${wanted}`, path.slice(0, -1));
    return;
  }
  if (issue.code === 'invalid_union') {
    const chosen = issue.errors.find((errors) => !errors.some(isOtherType));
    if (chosen !== undefined) {
      reportIssues(report, path, chosen);
      return;
    }
  }
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    reportIssues(report, path, issue.issues);
    return;
  }
  const offset = issue.code === 'custom' ? (issue.params?.offset as number | undefined) : undefined;
  report.error(path, issue.message, offset);
}

/** The branch of a union that the value was not written for. */
function isOtherType(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union') return issue.errors.every((errors) => errors.some(isOtherType));
  // A name that is none of some names was still written as a name.
  if (issue.code === 'invalid_value')
    return typeof issue.input !== 'string' || issue.values.some((value) => typeof value !== 'string');
  return issue.code === 'invalid_type';
}
