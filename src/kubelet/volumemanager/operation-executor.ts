import type { Clock } from '../../util/clock';
import { ExponentialBackoff } from '../exponential-backoff';
import type { Timeline } from '../timeline/timeline';

export type OperationName =
  | 'verify_controller_attached_volume'
  | 'volume_mount'
  | 'volume_unmount'
  | 'unmount_device'
  | 'map_volume'
  | 'unmap_volume'
  | 'unmap_device'
  | 'volume_fs_resize'
  | 'volume_attach'
  | 'volume_detach';

/** '' stands for every pod: an operation on the device excludes those on pods, two pods do not exclude each other. */
export interface OperationKey {
  readonly volume: string;
  readonly podUid: string;
}

export interface Operation {
  readonly name: OperationName;
  readonly key: OperationKey;
  /** For people: the volume's and the pod's name. */
  readonly about: string;
  /** Of the pod that it is done for, where it is one pod's; the key says which operations exclude each other. */
  readonly podUid?: string;
  /** Throws what it failed with. */
  run(): Promise<void>;
}

/** Where one operation stands. */
export interface OperationState {
  readonly key: OperationKey;
  name: OperationName;
  about: string;
  podUid: string | undefined;
  isPending: boolean;
  startedAt: number;
  backoff: ExponentialBackoff;
  failures: number;
  lastError: Error | undefined;
}

export interface ExecutorOptions {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly who: 'kubelet' | 'attachdetach-controller';
  readonly node?: string;
  readonly signal: AbortSignal;
  /** An operation has ended: loops have something to look at. */
  ended(): void;
}

/**
 * Runs operations beside each other, one at a time for a volume (pkg/volume/util/nestedpendingoperations), and leaves
 * alone what failed a moment ago.
 */
export class OperationExecutor {
  private readonly operations: OperationState[] = [];

  constructor(private readonly options: ExecutorOptions) {}

  isPending(volume: string, podUid = ''): boolean {
    return this.find({ volume, podUid })?.isPending === true;
  }

  all(): readonly OperationState[] {
    return this.operations;
  }

  /** The last failure for this volume, should nothing have worked since. */
  failureOf(volume: string): OperationState | undefined {
    return this.operations.find((state) => state.key.volume === volume && state.lastError !== undefined);
  }

  /** When the first of those that wait may be tried again. */
  get nextRetry(): number | undefined {
    const moments = this.operations
      .filter(({ isPending }) => !isPending)
      .flatMap(({ backoff }) => backoff.retryAt ?? []);
    return moments.length === 0 ? undefined : Math.min(...moments) + 1;
  }

  /** @returns whether it was started: not while another one runs on its key, or while it has to wait after a failure. */
  start(operation: Operation): boolean {
    const { clock } = this.options;
    const now = clock.now();
    const before = this.find(operation.key);
    if (before?.isPending) return false;
    // Another operation on the same key begins anew: the backoff of the first is forgotten.
    const same = before?.name === operation.name ? before : undefined;
    if (same && !same.backoff.isSafeToRetry(now)) return false;
    const state: OperationState = same ?? {
      key: operation.key,
      name: operation.name,
      about: operation.about,
      podUid: operation.podUid,
      isPending: true,
      startedAt: now,
      backoff: new ExponentialBackoff(),
      failures: 0,
      lastError: undefined,
    };
    if (before && !same) this.remove(before);
    if (!same) this.operations.push(state);
    state.about = operation.about;
    state.podUid = operation.podUid;
    state.isPending = true;
    state.startedAt = now;
    void this.run(operation, state);
    return true;
  }

  /** As `start`, of what takes no time: it is remembered only when it fails. */
  attempt({ run, ...operation }: Omit<Operation, 'run'> & { run(): void }): void {
    const before = this.find(operation.key);
    const same = before?.name === operation.name ? before : undefined;
    if (before?.isPending || same?.backoff.isSafeToRetry(this.options.clock.now()) === false) return;
    try {
      run();
      if (same) this.remove(same);
    } catch (error) {
      this.start({
        ...operation,
        run: async () => {
          throw error;
        },
      });
    }
  }

  private async run(operation: Operation, state: OperationState): Promise<void> {
    const { signal, ended } = this.options;
    try {
      await operation.run();
      this.remove(state);
    } catch (error) {
      if (signal.aborted) return;
      this.failed(operation, state, error instanceof Error ? error : new Error(String(error)));
    }
    ended();
  }

  private failed({ name, about }: Operation, state: OperationState, error: Error): void {
    const { clock, timeline, who, node } = this.options;
    const waitMs = state.backoff.failed(clock.now());
    state.isPending = false;
    state.failures += 1;
    state.lastError = error;
    timeline.add({
      who,
      ...(node !== undefined && { node }),
      kind: 'backoff',
      about,
      text: `${name} failed (try ${state.failures}); No retries permitted until ${seconds(timeline.elapsed + waitMs)} (durationBeforeRetry ${goDuration(waitMs)}). Error: ${error.message}`,
    });
  }

  private find({ volume, podUid }: OperationKey): OperationState | undefined {
    const matches = this.operations.filter(
      ({ key }) => key.volume === volume && (key.podUid === podUid || key.podUid === '' || podUid === ''),
    );
    return matches.find(({ isPending }) => isPending) ?? matches[0];
  }

  private remove(state: OperationState): void {
    const at = this.operations.indexOf(state);
    if (at >= 0) this.operations.splice(at, 1);
  }
}

const seconds = (ms: number) => `+${(ms / 1000).toFixed(1)}s`;

/** As Go prints one: `500ms`, `16s`, `2m2s`. */
export function goDuration(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000);
  const rest = (ms % 60_000) / 1_000;
  return minutes === 0 ? `${rest}s` : `${minutes}m${rest}s`;
}
