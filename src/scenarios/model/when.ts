export type CounterKey = 'rule' | 'volume' | 'pod' | 'node';

/** All of its keys have to hold. */
export interface When {
  readonly per: CounterKey;
  /** Ordinals, from 1, of calls that reach this test for one key. */
  readonly nth?: OrdinalTest;
  readonly every?: number;
  readonly skip?: number;
  /** Fires for one key. */
  readonly times?: number;
  readonly probability?: number;
  readonly after?: After;
  readonly window?: Window;
  /** Names of machines and the states they have to be in. */
  readonly machine?: Readonly<Record<string, readonly string[]>>;
}

export interface OrdinalTest {
  readonly source: string;
  test(ordinal: number): boolean;
}

export interface After {
  /** Undefined: since it was armed. `fired:NAME` is a rule of the same scenario. */
  readonly event: LifecycleEvent | `fired:${string}` | undefined;
  readonly delayMs: number;
}

export type LifecycleEvent =
  | 'created'
  | 'attached'
  | 'staged'
  | 'published'
  | 'unpublished'
  | 'unstaged'
  | 'detached'
  | 'expanded';

export type Window =
  /** Counted from arming; the rule acts while it is down. */
  | { readonly kind: 'duty'; readonly upMs: number; readonly downMs: number }
  /** It acts for that time from each moment the pattern names (five fields, UTC). */
  | { readonly kind: 'cron'; readonly cron: string; readonly forMs: number };
