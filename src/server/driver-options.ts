import type { BackendName } from '../backends/backend';
import type { Capabilities } from '../csi/capabilities';
import type { CsiDefinitions } from '../csi/load';
import type { FsType, Host } from '../host/host';
import type { ProcessControl } from '../scenarios/engine/actions/action';
import type { Profile } from '../services/capabilities';
import type { Clock } from '../util/clock';
import type { Durability } from '../util/files';
import type { Log } from '../util/log';
import type { Segments } from '../volumes/records';
import type { FaultGate } from './gate';
import type { ProcessHooks } from './process-control';
import type { RegistrationOptions } from './registration/registration';
import type { SecretPolicy } from './secrets';

/** The kubelet on this node, and whether to register with it. */
export interface KubeletOptions {
  /** Its --root-dir. */
  dir: string;
  register: boolean;
  /** Path of the CSI socket as the kubelet sees it; left out: as this process does. */
  endpoint?: string | undefined;
}

export interface DriverOptions {
  dataDir: string;
  /** Path of the socket. */
  socket: string;
  nodeId: string;
  driverName: string;
  version: string;
  profile: Profile;
  /** What GetPluginCapabilities speaks for: this process, or a plugin that has other processes. */
  advertise: Profile;
  capabilities: Capabilities;
  backend: BackendName;
  fsType: FsType;
  defaultSizeBytes: bigint;
  capacityBytes: bigint | undefined;
  maxVolumeBytes: bigint;
  /** 0: no limit. */
  maxVolumesPerNode: number;
  topology: Segments;
  extraTopologies: readonly Segments[];
  strict: boolean;
  strictLimits: boolean;
  secrets: SecretPolicy | undefined;
  durability: Durability;
  host: Host;
  clock: Clock;
  /** What it waits for beside its calls: ends of scenarios, times of rules, the registration. Left out: `clock`. */
  timers?: Clock;
  log: Log;
  /** Files and folders of scenarios for this process alone, besides those of the data folder. */
  scenarios?: readonly string[];
  /** The same, of scenarios that are loaded and not armed. */
  gallery?: readonly string[];
  /** What rules may do to the process; left out: to this very one. */
  processControl?: (hooks: ProcessHooks) => ProcessControl;
  /** In place of the scenarios: for tests of the driver itself. */
  faults?: FaultGate;
  /** Puts something around the gate: for a driver that is not alone in its process and still has to stop or die. */
  aroundGate?: (gate: FaultGate) => FaultGate;
  /** Left out: the driver knows of no kubelet, and somebody else registers it (node-driver-registrar). */
  kubelet?: KubeletOptions | undefined;
  /** In place of sockets in a kubelet's folder: for a kubelet in the same process. Not beside `kubelet.register`. */
  registration?: Pick<RegistrationOptions, 'place' | 'endpoint' | 'sockets'>;
  /** Told when rules may have fired or machines changed. */
  onScenarioChange?: () => void;
  /** The process may end while the socket is open: for a driver that is not what its process is for. */
  unref?: boolean;
  /** Of csi.v1; left out: read anew from the .proto file. */
  definitions?: CsiDefinitions;
  /** How often a connection is asked whether it lives, and how long it may take to answer, in milliseconds. */
  keepaliveMs?: number;
}
