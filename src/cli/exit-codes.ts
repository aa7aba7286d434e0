/** What every command ends with; docs/cli.md says the same. */
export const EXIT = {
  OK: 0,
  /** It ran and failed: a verdict that is not passed, a file that is no scenario, a driver that refused. */
  FAILED: 1,
  /** The command line is wrong. */
  USAGE: 2,
  /** No driver answers. */
  UNREACHABLE: 3,
} as const;
