import type { CsiClient } from '../csi/client';
import type { MountView } from './csi/mount-view';

/** The machine under a node, with the plugin that runs on it. */
export interface NodeMachine {
  readonly mounts: MountView;
  /** A connection of its own for each call. */
  connect(): CsiClient;
  /** What may be done to it; missing where the plugin is not ours. */
  readonly power?: MachinePower;
}

export interface MachinePower {
  /** As SIGTERM and a new process. */
  restartDriver(): Promise<void>;
  /** As SIGKILL; it stays down until it is started. */
  killDriver(): Promise<void>;
  startDriver(): Promise<void>;
  /** Every process is gone, and every mount. */
  cut(): Promise<void>;
  /** It is there again, with its driver. */
  boot(): Promise<void>;
}

/** @throws Error when there can be no such node */
export type MachineFor = (nodeName: string) => Promise<NodeMachine>;
