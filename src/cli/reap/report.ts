export type Action = 'thaw' | 'unmount' | 'detach' | 'remove';

/** One thing that a driver left. */
export interface Step {
  action: Action;
  what: string;
  /** Whether it was taken; in a dry run nothing is. */
  done: boolean;
  /** Why it could not be taken, and what to do. */
  problem?: string;
}

export interface Report {
  dryRun: boolean;
  /** In the order of what is done. */
  steps: Step[];
  /** Folders that were not touched, and why. */
  refused: { dataDir: string; why: string }[];
}

const DONE: Readonly<Record<Action, string>> = {
  thaw: 'thawed',
  unmount: 'unmounted',
  detach: 'detached',
  remove: 'removed',
};

/** Whether nothing is left. */
export function isClean({ steps, refused }: Report): boolean {
  return refused.length === 0 && steps.every(({ done }) => done);
}

export function reportText({ dryRun, steps, refused }: Report): string {
  const lines = steps.map(({ action, what, done, problem }) => {
    if (done) return `${DONE[action]} ${what}`;
    return problem === undefined ? `would ${action} ${what}` : `could not ${action} ${what}: ${problem}`;
  });
  for (const { why } of refused) lines.push(`refused: ${why}`);
  if (lines.length === 0) return 'nothing of fake-csi is left';
  if (dryRun && steps.length > 0) lines.push('nothing was done; `fake-csi reap --yes` does it');
  return lines.join('\n');
}
