/**
 * `fake-csi/jest`: matchers for `expect(csi)`. Importing it, or naming it in `setupFilesAfterEnv`, adds them to the
 * global `expect`; where there is none (`injectGlobals: false`), `expect.extend(matchers)` does.
 */
import type {} from 'expect';
import type { CallFilter } from './calls';
import { matchers } from './matchers';
import type { RpcSpec } from './scenario-types';

export { type MatcherResult, matchers } from './matchers';

export interface FakeCsiMatchers<R> {
  /** Such a call came; with `times`, so many of them. */
  toHaveReceived(filter: CallFilter | RpcSpec, times?: number): R;
  /** Such a call was answered, with `code` where it is given, else with OK; with `times`, so many of them. */
  toHaveAnswered(filter: CallFilter | RpcSpec, times?: number): R;
  /** A rule fired: its name, or `scenario/rule`, or a pattern of those. */
  toHaveFired(rule: string, times?: number): R;
  /** No mount, loop device or frozen filesystem is left of volumes that no record tells of. To be awaited. */
  toHaveNoLeaks(): Promise<R>;
}

declare global {
  namespace jest {
    // Its parameters have to be those of what it is merged with.
    // biome-ignore lint/complexity/noBannedTypes: as @types/jest has it.
    interface Matchers<R, T = {}> extends FakeCsiMatchers<R> {}
  }
}

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends FakeCsiMatchers<R> {}
}

const { expect: known } = globalThis as { expect?: { extend?(added: typeof matchers): void } };
known?.extend?.(matchers);
