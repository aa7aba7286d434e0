import * as path from 'node:path';
import type { BackendName } from '../backends/backend';
import type { CsiDefinitions } from '../csi/load';
import type { FsType, Host } from '../host/host';
import {
  DEFAULT_DRIVER_NAME,
  DEFAULT_FS_TYPE,
  DEFAULT_SIZE,
  defaultTopology,
  MAX_VOLUME_BYTES,
} from '../server/defaults';
import type { DriverOptions } from '../server/driver';
import { packageVersion } from '../server/version';
import { parseCapabilities } from '../services/capabilities';
import { checkSegments } from '../services/rules/topology';
import type { Clock } from '../util/clock';
import type { Log } from '../util/log';
import { parseQuantity } from '../util/quantity';

/** What a driver inside another process is like; everything has a default that suits a test. */
export interface EmbeddedDriverOptions {
  /**
   * What holds the bytes of a volume. `memory` (default) models mounts and disks and needs no privilege; `loop`, `tmpfs`
   * and `directory` really mount and need root.
   */
  backend?: BackendName;
  /** Default: `node-1`. */
  nodeId?: string;
  /** Default: `fake.csi.test`. */
  driverName?: string;
  /** Which services it serves (default: all). */
  services?: 'all' | 'node' | 'controller';
  /** Filesystem of a volume that names none (default: ext4). */
  fsType?: FsType;
  /** Bytes of all volumes and snapshots together, such as `10Gi` (default: no limit). */
  capacity?: string | bigint;
  /** Size of a volume that names none (default: 1Gi). */
  defaultSize?: string | bigint;
  /** Default: no limit. */
  maxVolumesPerNode?: number;
  /** Capabilities to switch off (`-NAME`) or on, as after `--capabilities` (docs/options.md). */
  capabilities?: string | readonly string[];
  /** Segments of the node. */
  topology?: Readonly<Record<string, string>>;
  /** Unpublish and unstage of an unknown volume is NOT_FOUND instead of OK. */
  strict?: boolean;
  /** Takes what the driver logs (default: nobody). */
  log?: Log;
}

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** What a driver's folders, machine and time are; the rest comes from the options. */
export interface Surroundings {
  dataDir: string;
  socket: string;
  host: Host;
  clock: Clock;
  definitions: CsiDefinitions;
}

/** @throws Error with one line that names the option, what was expected and what was found */
export function driverOptions(options: EmbeddedDriverOptions, around: Surroundings): DriverOptions {
  const {
    driverName = DEFAULT_DRIVER_NAME,
    services = 'all',
    backend = 'memory',
    capabilities = 'all',
  } = options;
  const topology = { ...(options.topology ?? defaultTopology(driverName)) };
  checkSegments(topology, 'topology');
  return {
    ...around,
    nodeId: options.nodeId ?? 'node-1',
    driverName,
    version: packageVersion(),
    profile: services,
    advertise: services === 'controller' ? 'all' : services,
    capabilities: parseCapabilities(typeof capabilities === 'string' ? capabilities : capabilities.join(',')),
    backend,
    fsType: options.fsType ?? DEFAULT_FS_TYPE,
    defaultSizeBytes: size('defaultSize', options.defaultSize ?? DEFAULT_SIZE),
    capacityBytes: options.capacity === undefined ? undefined : size('capacity', options.capacity),
    maxVolumeBytes: MAX_VOLUME_BYTES,
    maxVolumesPerNode: options.maxVolumesPerNode ?? 0,
    topology,
    extraTopologies: [],
    strict: options.strict ?? false,
    strictLimits: true,
    secrets: undefined,
    durability: 'process',
    log: options.log ?? silentLog,
    // A test that failed before it stopped its driver is to end all the same.
    unref: true,
  };
}

function size(option: string, value: string | bigint): bigint {
  const bytes = typeof value === 'bigint' ? value : parseQuantity(value);
  if (bytes !== undefined && bytes > 0n) return bytes;
  throw new TypeError(`${option}: expected a size such as 10Gi or 1073741824n, found ${String(value)}`);
}

/** The model of a machine, or the machine itself where it lets us. */
export async function hostFor(backend: BackendName, dataDir: string): Promise<Host> {
  if (backend === 'memory') {
    const { createMemoryHost } = require('../host/memory') as typeof import('../host/memory');
    return createMemoryHost();
  }
  const { createLinuxHost } = require('../host/linux') as typeof import('../host/linux');
  const host = createLinuxHost({ stateDir: dataDir, cacheDir: path.join(dataDir, 'cache') });
  const { mount, loop } = await host.abilities();
  const missing = mount !== true ? mount : backend === 'loop' && loop !== true ? loop : undefined;
  if (missing !== undefined)
    throw new Error(`backend ${backend}: not possible here: ${missing}; use backend: 'memory'`);
  return host;
}
