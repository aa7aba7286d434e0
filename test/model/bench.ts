import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { BackendName } from '../../src/backends/backend';
import type { Host } from '../../src/host/host';
import { TestDriver, type TestDriverOptions } from '../support/driver';
import { NAMES } from './arbitrary';
import { ownNode } from './node-rules';
import type { Access, Operation } from './operations';
import { type Places, placesIn, Sender } from './sender';
import type { Plugin, State } from './state';
import { Names } from './translate';

export interface BenchOptions {
  host: Host;
  backend: BackendName;
  plugin: Plugin;
  /** Further options of the driver, such as a gate that spoils it. */
  driver?: Partial<TestDriverOptions>;
}

/** A driver to be tried, and the machine around it. */
export class Bench {
  private constructor(
    private readonly options: BenchOptions,
    private current: TestDriver,
    /** Scratch folder and data folder, whichever driver serves them now. */
    readonly dir: string,
    readonly places: Places,
    readonly names: Names,
    readonly sender: Sender,
  ) {}

  /** @param names what is known of ids from a bench before. */
  static async start(options: BenchOptions, names?: Names): Promise<Bench> {
    const driver = await launch(options);
    const places = placesIn(driver.dir);
    for (const name of NAMES.stagingPaths) await fs.mkdir(places.of(name), { recursive: true });
    await fs.mkdir(places.targets);
    const own = ownNode(options.plugin);
    const known = names ?? (await learnNames(options));
    const sender = new Sender(known, places, own, { backend: options.backend });
    const bench = new Bench(options, driver, driver.dir, places, known, sender);
    await bench.introduceNodes();
    return bench;
  }

  get driver(): TestDriver {
    return this.current;
  }

  get plugin(): Plugin {
    return this.options.plugin;
  }

  async restart(killed: boolean): Promise<void> {
    const { driver, dataDir } = this.current;
    this.current.csi.close();
    await (killed ? driver.kill() : driver.stop(1_000));
    const { dir } = this.current;
    this.current = await launch(this.options, dataDir);
    if (dir !== this.dir) await fs.rm(dir, { recursive: true });
  }

  /** The other nodes of the data folder have been there once: each has left its record. */
  private async introduceNodes(): Promise<void> {
    const nodes = path.join(this.current.dataDir, 'nodes');
    const own = JSON.parse(await fs.readFile(path.join(nodes, ownNode(this.plugin), 'node.json'), 'utf8'));
    for (const [id, maxVolumes] of Object.entries(this.plugin.nodes).slice(1)) {
      await fs.mkdir(path.join(nodes, id));
      await fs.writeFile(path.join(nodes, id, 'node.json'), JSON.stringify({ ...own, id, maxVolumes }));
    }
  }

  /** What the machine and the data folder hold that the state does not explain; empty when nothing. */
  async leftovers(state: State): Promise<string[]> {
    const problems: string[] = [];
    const compare = (what: string, expected: readonly string[], found: readonly string[]) => {
      const [a, b] = [[...expected].sort().join(' '), [...found].sort().join(' ')];
      if (a !== b) problems.push(`${what}: expected [${a}], found [${b}]`);
    };
    const { host } = this.options;
    const mounts = (await host.mounts.list())
      .map(({ mountPoint }) => mountPoint)
      .filter(
        (point) => point.startsWith(`${this.places.staging}/`) || point.startsWith(`${this.places.targets}/`),
      )
      .map((point) => path.basename(point));
    const staged = [...state.stages.values()]
      .filter(({ access }) => access.type === 'mount')
      .map(({ at }) => at);
    compare('mounts', [...staged, ...state.publications.keys()], mounts);
    compare('targets', [...state.publications.keys()], await fs.readdir(this.places.targets));
    compare('staging paths', NAMES.stagingPaths, await fs.readdir(this.places.staging));
    const counts = {
      volumes: state.volumes.size,
      snapshots: state.snapshots.size,
      groups: state.groups.size,
      [`nodes/${ownNode(this.plugin)}/stages`]: state.stages.size,
      [`nodes/${ownNode(this.plugin)}/publications`]: state.publications.size,
    };
    for (const [folder, count] of Object.entries(counts)) {
      const found = (await fs.readdir(path.join(this.current.dataDir, folder))).length;
      if (found !== count) problems.push(`${folder}: expected ${count} records, found ${found}`);
    }
    if (this.plugin.disks) {
      const loops = (await host.loops.list()).filter(({ backing }) =>
        backing.path.startsWith(`${this.dir}/`),
      );
      if (loops.length !== state.stages.size)
        problems.push(`loop devices: expected ${state.stages.size}, found ${loops.length}`);
    }
    return problems;
  }

  /** Ends the driver and takes everything from the machine, whatever state it is in. */
  async close(): Promise<void> {
    const { host } = this.options;
    this.current.csi.close();
    await this.current.driver.stop(1_000);
    const below = (point: string) => point.startsWith(`${this.dir}/`);
    for (const { mountPoint } of (await host.mounts.list()).reverse())
      if (below(mountPoint)) await host.mounts.unmount(mountPoint, { lazy: true }).catch(() => undefined);
    for (const { index, backing } of await host.loops.list())
      if (below(backing.path)) await host.loops.detach(index);
    for (const folder of new Set([this.dir, this.current.dir]))
      await fs.rm(folder, { recursive: true, force: true });
  }
}

function launch({ host, backend, plugin, driver }: BenchOptions, dataDir?: string): Promise<TestDriver> {
  const [nodeId = '', maxVolumesPerNode = 0] = Object.entries(plugin.nodes)[0] ?? [];
  return TestDriver.start({
    host,
    backend,
    nodeId,
    maxVolumesPerNode,
    capacityBytes: plugin.pool,
    defaultSizeBytes: plugin.defaultSize,
    maxVolumeBytes: plugin.largest,
    ...driver,
    ...(dataDir !== undefined && { dataDir }),
  });
}

/**
 * The ids that a driver gives to names are known before a sequence begins, so that calls can be made about what is gone.
 * One that nobody has spoilt tells them.
 */
async function learnNames(options: BenchOptions): Promise<Names> {
  const driver = await launch({ ...options, driver: {} });
  const names = new Names();
  const { backend, plugin } = options;
  const sender = new Sender(names, placesIn(driver.dir), ownNode(plugin), { backend });
  const send = async (operation: Operation) => {
    const { code, message } = await sender.send(driver.csi, operation);
    if (code !== 'OK') throw new Error(`${operation.rpc}: ${code}: ${message}`);
  };
  const access: Access[] = [{ type: 'mount', mode: 'SINGLE_NODE_WRITER', fs: '', flags: [] }];
  const asked = { range: null, access, groupable: true, protect: false, source: null };
  try {
    for (const v of NAMES.volumes) await send({ rpc: 'CreateVolume', v, ...asked });
    for (const s of NAMES.snapshots)
      await send({ rpc: 'CreateSnapshot', s, v: NAMES.volumes[0], dependent: false });
    for (const g of NAMES.groups) await send({ rpc: 'CreateVolumeGroupSnapshot', g, vs: [...NAMES.volumes] });
    return names;
  } finally {
    await driver.close();
  }
}
