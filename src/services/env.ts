import type { Backend, BackendName, Steps } from '../backends/backend';
import type { Capabilities } from '../csi/capabilities';
import type { Method, RequestOf, ResponseOf } from '../csi/rpcs';
import type { DiskTarget, PreparedDisk } from '../faults/disk/target';
import type { Host } from '../host/host';
import type { Clock } from '../util/clock';
import type { Log } from '../util/log';
import type { AttachmentIndex } from '../volumes/attachment-index';
import type { Freezer } from '../volumes/freezer';
import type { Layout } from '../volumes/layout';
import type { NodeRegistry } from '../volumes/node-registry';
import type { NodeStore } from '../volumes/node-store';
import type { Pool } from '../volumes/pool';
import type { RecordStore } from '../volumes/record-store';
import type { GroupRecord, NodeRecord, SnapshotRecord, VolumeRecord } from '../volumes/records';

export interface DriverSettings {
  driverName: string;
  vendorVersion: string;
  capabilities: Capabilities;
  /** What GetPluginCapabilities reports: the whole plugin, or only what this process serves. */
  advertised: Capabilities;
  defaultBackend: BackendName;
  defaultFsType: string;
  defaultSizeBytes: bigint;
  maxVolumeBytes: bigint;
  /** Answer NOT_FOUND where the specification's tables say so and its prose says OK. */
  strict: boolean;
}

/** Everything a service works with. Put together in one place: server/driver.ts. */
export interface Env {
  settings: DriverSettings;
  host: Host;
  clock: Clock;
  log: Log;
  layout: Layout;
  /** Nodes with the same one run on this very kernel. */
  bootId: string;
  volumes: RecordStore<VolumeRecord>;
  snapshots: RecordStore<SnapshotRecord>;
  groups: RecordStore<GroupRecord>;
  nodes: NodeRegistry;
  pool: Pool;
  attachments: AttachmentIndex;
  freezer: Freezer;
  /** Volumes being made without a CreateVolume, by id: a controller and a node may both need one first. */
  making: Map<string, Promise<VolumeRecord>>;
  backends: ReadonlyMap<BackendName, Backend>;
  /** This process's own node, when it serves one. */
  node: { record: NodeRecord; store: NodeStore } | undefined;
}

/** One call as a service sees it. */
export interface Call extends Steps {
  readonly method: Method;
  /** Aborts when the client cancels or its deadline passes. Work on a mount is not abandoned half-way for it. */
  readonly signal: AbortSignal;
  /** Which of the registration's sockets it came by. */
  readonly via?: string;
  /**
   * Whether another call holds this lock: for those that take none. Absent where no other call can run (recovery).
   * @throws CsiError ABORTED naming the call.
   */
  assertFree?(lock: string): void;
  /** Lets a fault make a disk what it wants right before it is staged. Absent where no fault may act (recovery). */
  prepareDisk?(target: DiskTarget): Promise<PreparedDisk | undefined>;
}

export type Handler<M extends Method> = (
  env: Env,
  request: RequestOf<M>,
  call: Call,
) => Promise<ResponseOf<M>>;

/** Server streaming: the answers as they come. An error ends the stream with its status. */
export type StreamHandler<M extends Method> = (
  env: Env,
  request: RequestOf<M>,
  call: Call,
) => AsyncIterable<ResponseOf<M>>;

export function backendOf(env: Env, volume: { id: string; backend: BackendName }): Backend {
  const backend = env.backends.get(volume.backend);
  if (!backend)
    throw new Error(`volume ${volume.id} needs backend ${volume.backend}, which this process does not have`);
  return backend;
}
