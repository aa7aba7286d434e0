import type { KubeletVersion } from '../versions';

/** What does not fit, and what follows from it. */
export interface Finding {
  /** `error`: somebody has to do something. `warning`: it goes wrong at the next occasion. `note`: good to know. */
  readonly severity: 'error' | 'warning' | 'note';
  /** Stable, for programs: `vol-data-empty`. */
  readonly code: string;
  /** Where, as a full path. */
  readonly path: string;
  readonly text: string;
  /** What the kubelet does about it, above all after a restart. */
  readonly kubelet: string;
}

export interface MountSeen {
  readonly source: string;
  readonly fsType: string;
  readonly readOnly: boolean;
  /** More than one: mounted over each other. */
  readonly layers: number;
}

export interface SeenVolume {
  readonly podUid: string;
  /** The folder's name: of the PersistentVolume, or of the inline volume in its pod. */
  readonly name: string;
  readonly mode: 'Filesystem' | 'Block';
  /** vol_data.json, field by field, as far as it can be read. */
  readonly data: Readonly<Record<string, string>> | undefined;
  /** At `mount`, or at the file of a block volume. */
  readonly mount: MountSeen | undefined;
  /** subPaths that are bound below volume-subpaths. */
  readonly subPaths: readonly string[];
  /** What a kubelet that starts now makes of it. */
  readonly afterRestart: readonly string[];
}

export interface SeenStage {
  readonly path: string;
  readonly mode: 'Filesystem' | 'Block';
  readonly driver: string;
  readonly volumeHandle: string | undefined;
  readonly mount: MountSeen | undefined;
  /** Uids of the pods whose folders hold this volume. */
  readonly pods: readonly string[];
}

/** What lies in a kubelet's folder. */
export interface Inspection {
  readonly root: string;
  readonly kubelet: KubeletVersion;
  /** Whose mounts were looked at, and why not if they could not be. */
  readonly mountsOf: string;
  readonly pods: readonly string[];
  readonly volumes: readonly SeenVolume[];
  readonly staged: readonly SeenStage[];
  /** Sockets by which drivers register, below plugins_registry. */
  readonly registrationSockets: readonly string[];
  /** Folders of drivers below plugins/, each with the sockets in it. */
  readonly driverFolders: readonly { readonly name: string; readonly sockets: readonly string[] }[];
  readonly findings: readonly Finding[];
}
