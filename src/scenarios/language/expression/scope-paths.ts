import type { SCOPE_ROOTS } from '../../model';

type Root = Exclude<(typeof SCOPE_ROOTS)[number], 'request'>;

/** The names below something; `any` for maps and lists, whose names only a call knows, and for single values. */
export type Names = 'any' | { readonly [name: string]: Names };

/** What the engine tells of a call beside its request (engine/scope.ts). */
export const SCOPE_NAMES: Readonly<Record<Root, Names>> = {
  volume: {
    id: 'any',
    name: 'any',
    pvc: { namespace: 'any', name: 'any' },
    storageClass: 'any',
    parameters: 'any',
    attributes: 'any',
    fsType: 'any',
    accessModes: 'any',
    block: 'any',
    state: 'any',
    capacity: 'any',
  },
  pod: { namespace: 'any', name: 'any', uid: 'any', serviceAccount: 'any' },
  node: { id: 'any', fsFreePct: 'any' },
  call: { id: 'any', method: 'any' },
  rule: { name: 'any', fired: 'any', nth: 'any' },
  scenario: { name: 'any', fired: 'any', active: 'any' },
};

/** Where in `steps` the first name is that there is not, and the names there are. */
export function unknownBelow(
  root: string,
  steps: readonly string[],
): { at: number; candidates: string[] } | undefined {
  let names: Names = Object.hasOwn(SCOPE_NAMES, root) ? SCOPE_NAMES[root as Root] : 'any';
  for (const [at, step] of steps.entries()) {
    if (names === 'any' || step === '*') return undefined;
    const next: Names | undefined = Object.hasOwn(names, step) ? names[step] : undefined;
    if (next === undefined) return { at, candidates: Object.keys(names) };
    names = next;
  }
  return undefined;
}
