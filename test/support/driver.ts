import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { BackendName } from '../../src/backends/backend';
import { type CsiClient, connectCsi } from '../../src/csi/client';
import { loadCsi } from '../../src/csi/load';
import type { Host } from '../../src/host/host';
import { Driver, type DriverOptions } from '../../src/server/driver';
import { parseCapabilities } from '../../src/services/capabilities';
import { systemClock } from '../../src/util/clock';
import type { Log } from '../../src/util/log';
import { once } from '../../src/util/once';

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Once a test file: loading them takes as long as everything else a driver does to start. */
export const definitions = once(() => loadCsi());

export interface TestDriverOptions
  extends Partial<Omit<DriverOptions, 'capabilities' | 'dataDir' | 'socket'>> {
  backend: BackendName;
  host: Host;
  /** As after --capabilities. */
  capabilities?: string;
  /** Starts on the data folder of an earlier driver. */
  dataDir?: string;
  /** Where the driver's scratch folder is made; default: the machine's own place for such. */
  root?: string;
}

/** A driver in this process, on a socket of its own, with a client connected to it. */
export class TestDriver {
  private constructor(
    readonly driver: Driver,
    readonly csi: CsiClient,
    /** Scratch folder for staging and target paths, removed by `close`. */
    readonly dir: string,
    readonly dataDir: string,
  ) {}

  static async start({ root = tmpdir(), ...options }: TestDriverOptions): Promise<TestDriver> {
    // Short on purpose: a socket's path has 107 bytes.
    const dir = await fs.mkdtemp(path.join(root, 'fc-'));
    const dataDir = options.dataDir ?? path.join(dir, 'data');
    const socket = path.join(dir, 'csi.sock');
    const starting = Driver.start({
      definitions: definitions(),
      nodeId: 'node-1',
      driverName: 'fake.csi.test',
      version: '0.0.0-test',
      profile: 'all',
      advertise: 'all',
      fsType: 'ext4',
      defaultSizeBytes: 64n << 20n,
      capacityBytes: undefined,
      maxVolumeBytes: 2n ** 62n,
      maxVolumesPerNode: 0,
      topology: { 'topology.fake.csi.test/zone': 'a' },
      extraTopologies: [],
      strict: false,
      strictLimits: true,
      secrets: undefined,
      durability: 'process',
      clock: systemClock,
      log: silentLog,
      ...options,
      capabilities: parseCapabilities(options.capabilities ?? 'all'),
      dataDir,
      socket,
    });
    try {
      const { driver } = await starting;
      return new TestDriver(driver, connectCsi(socket, definitions()), dir, dataDir);
    } catch (error) {
      // Nobody gets it, so nobody closes it.
      await fs.rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Ends the driver and keeps the data folder, as a restart does. */
  async stop(): Promise<void> {
    this.csi.close();
    await this.driver.stop(1_000);
  }

  async close(): Promise<void> {
    await this.stop();
    await fs.rm(this.dir, { recursive: true, force: true });
  }

  /** An existing folder, as a CO makes for staging. */
  async folder(name: string): Promise<string> {
    const folder = path.join(this.dir, name);
    await fs.mkdir(folder, { recursive: true });
    return folder;
  }

  /** A path whose parent exists, as a CO prepares for a target. */
  async target(name: string): Promise<string> {
    await this.folder('pods');
    return path.join(this.dir, 'pods', name);
  }
}
