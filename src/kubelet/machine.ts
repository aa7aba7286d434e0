import type { CsiClient } from '../csi/client';
import type { MountView } from './csi/mount-view';
import type { PluginsFolder } from './pluginmanager/plugins-folder';

/** The machine under a node, with the plugin that runs on it. */
export interface NodeMachine {
  readonly mounts: MountView;
  /**
   * A connection of its own for each call.
   * @param endpoint what the plugin told at its registration; left out: the plugin's own socket.
   */
  connect(endpoint?: string): CsiClient;
  /** Where the plugin registers itself; missing where node-driver-registrar does it. */
  readonly plugins?: PluginsFolder;
  /** What its plugin answers to GetPluginInfo, where that is known before it is asked. */
  readonly driverName?: string;
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
