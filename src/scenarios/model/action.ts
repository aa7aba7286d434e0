import type { CodeName } from '../../csi/status';
import type { Template } from './expression';

export type Action =
  | { readonly kind: 'delay'; readonly delay: Delay }
  | { readonly kind: 'error'; readonly code: CodeName; readonly message: Template }
  | { readonly kind: 'hang'; readonly until: HangEnd }
  | { readonly kind: 'set'; readonly fields: readonly FieldChange[] }
  | { readonly kind: 'respond'; readonly merge: Readonly<Record<string, unknown>> }
  | { readonly kind: 'disk'; readonly condition: DiskCondition }
  | { readonly kind: 'process'; readonly act: ProcessAct }
  | { readonly kind: 'registration'; readonly act: RegistrationAct }
  | { readonly kind: 'goto'; readonly machine: string; readonly state: string };

export type Delay =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'uniform'; readonly fromMs: number; readonly toMs: number }
  | {
      readonly kind: 'lognormal';
      readonly medianMs: number;
      readonly sigma: number;
      readonly maxMs: number | undefined;
    }
  /** `steps[i]` from `i * everyMs` after the scenario was armed; the last one for ever. */
  | { readonly kind: 'ramp'; readonly stepsMs: readonly number[]; readonly everyMs: number };

export type HangEnd =
  /** The client's deadline; for a call without one, the scenario's maxHang or the engine's. */
  | { readonly kind: 'deadline' }
  /** `fake-csi release`, `reset`, or the client leaving. */
  | { readonly kind: 'release' }
  | { readonly kind: 'time'; readonly ms: number };

/** `request.volume_capability.mount.fs_type: xfs` → path `['volume_capability', 'mount', 'fs_type']`. */
export interface FieldChange {
  readonly path: readonly string[];
  /** JSON; null removes the field. */
  readonly value: unknown;
}

/** What a disk is made to be before a stage; the kernel then says what it thinks of it. */
export type DiskCondition =
  | { readonly kind: 'missing' }
  | { readonly kind: 'blank' }
  | { readonly kind: 'foreignFs'; readonly fsType: 'ext4' | 'xfs' | 'btrfs' | 'vfat' | 'swap' }
  | { readonly kind: 'corruptSuperblock' }
  | { readonly kind: 'dirtyLog' }
  | { readonly kind: 'duplicateUuid' }
  /** Keeps this part of the disk, 0 to 1. */
  | { readonly kind: 'truncated'; readonly keep: number }
  | { readonly kind: 'readOnlyDevice' };

/**
 * Conditions that stay, and take the volume's data with them: they need `destructive: true`. The others are taken back
 * as soon as the call is over.
 */
export const DESTRUCTIVE_CONDITIONS = ['blank', 'corruptSuperblock', 'truncated'] as const;

export type ProcessAct =
  | { readonly kind: 'exit'; readonly code: number }
  /** SIGSTOP, and SIGCONT after that time. */
  | { readonly kind: 'stop'; readonly forMs: number }
  /** The socket is gone and its connections are cut; it listens again after that time, or at reset. */
  | { readonly kind: 'closeSocket'; readonly forMs: number | undefined };

/**
 * What the kubelet is to find in its plugins_registry. `unregister`: no socket. `dead`: a file that nobody listens on, as
 * a reboot leaves it. `silent`: a socket that takes connections and says nothing. `second`: another socket that gives the
 * same driver's name. Until the time is up, the rule's window closes, or reset.
 */
export interface RegistrationAct {
  readonly kind: 'unregister' | 'second' | 'dead' | 'silent';
  readonly forMs: number | undefined;
}
