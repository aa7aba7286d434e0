import * as path from 'node:path';
import { keyOf } from '../util/keys';

/** Where everything lies under the data folder (docs/architecture.md, "State on disk"). */
export class Layout {
  readonly volumes: string;
  readonly snapshots: string;
  readonly groups: string;
  readonly nodes: string;
  readonly journal: string;
  readonly locks: string;
  /** Armed scenarios; every process reads them. */
  readonly scenarios: string;
  /** The control socket, and nothing else. */
  readonly control: string;
  /** What the controller did to the machine for a moment; a node has a folder of its own for that. */
  readonly undo: string;

  constructor(readonly root: string) {
    this.volumes = path.join(root, 'volumes');
    this.snapshots = path.join(root, 'snapshots');
    this.groups = path.join(root, 'groups');
    this.nodes = path.join(root, 'nodes');
    this.journal = path.join(root, 'journal');
    this.locks = path.join(root, 'locks');
    this.scenarios = path.join(root, 'scenarios');
    this.control = path.join(root, 'control');
    this.undo = path.join(root, 'undo');
  }

  volume(id: string): VolumePaths {
    return volumePaths(path.join(this.volumes, keyOf(id)));
  }

  snapshot(id: string): SnapshotPaths {
    return snapshotPaths(path.join(this.snapshots, keyOf(id)));
  }

  group(id: string): { folder: string } {
    return { folder: path.join(this.groups, keyOf(id)) };
  }

  node(id: string): NodePaths {
    // A node id is usually a host name and reads well as one; anything else is hashed like every other id.
    const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id) ? id : keyOf(id);
    return nodePaths(path.join(this.nodes, name));
  }
}

export interface VolumePaths {
  folder: string;
  record: string;
  /** Block image (`loop`, `memory`). */
  disk: string;
  /** File tree (`directory`), or what a tmpfs is filled with at its first mount. */
  tree: string;
}

export interface SnapshotPaths {
  folder: string;
  record: string;
  disk: string;
  tree: string;
}

export interface NodePaths {
  folder: string;
  record: string;
  stages: string;
  publications: string;
  undo: string;
  /** Mount points of the driver's own: implicit staging and tmpfs volumes. */
  mounts: string;
}

export const DISK_NAME = 'disk.img';

export function volumePaths(folder: string): VolumePaths {
  return {
    folder,
    record: path.join(folder, 'volume.json'),
    disk: path.join(folder, DISK_NAME),
    tree: path.join(folder, 'tree'),
  };
}

export function snapshotPaths(folder: string): SnapshotPaths {
  return {
    folder,
    record: path.join(folder, 'snapshot.json'),
    disk: path.join(folder, DISK_NAME),
    tree: path.join(folder, 'tree'),
  };
}

function nodePaths(folder: string): NodePaths {
  return {
    folder,
    record: path.join(folder, 'node.json'),
    stages: path.join(folder, 'stages'),
    publications: path.join(folder, 'publications'),
    undo: path.join(folder, 'undo'),
    mounts: path.join(folder, 'mounts'),
  };
}
