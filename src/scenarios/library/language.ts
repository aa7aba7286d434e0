import type { Problem } from '../language';

/** zod and yaml take a tenth of a second to load: only a process that has a scenario needs them. */
export function language(): typeof import('../language') {
  return require('../language') as typeof import('../language');
}

/** `slow.yaml:13:5: rules.1: unknown key "tims"` */
export function formatted({ file, line, column, path, message }: Problem): string {
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}
