import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { BackendName } from '../../backends/backend';
import type { Hints, Strings } from '../../conformance/hints';
import { ownHintsWithScenario, ownScenario } from '../../conformance/own-hints';
import type { CsiDefinitions } from '../../csi/load';
import { driverOptions, hostFor } from '../../embedded/driver-options';
import { DEFAULT_DRIVER_NAME, defaultTopology } from '../../server/defaults';
import { Driver } from '../../server/driver';
import { systemClock } from '../../util/clock';
import type { Log } from '../../util/log';

export interface OwnDriverOptions {
  readonly definitions: CsiDefinitions;
  /** A folder of its own, with a short path. */
  readonly scratch: string;
  readonly backend: BackendName;
  readonly services: 'all' | 'node' | 'controller';
  /** As after `serve --capabilities`. */
  readonly capabilities: string;
}

export interface OwnDriver {
  readonly socket: string;
  readonly hints: Hints;
  /** Files and folders with what it logs and keeps. */
  readonly traces: readonly string[];
  stop(): Promise<void>;
}

/** Few, so that the limit can be come to. */
const MAX_VOLUMES_PER_NODE = 8;
const OTHER_NODE = 'node-2';
const GRACE_MS = 1_000;

/** Our own driver in this process, with a second node beside it. */
export async function startOwnDriver(options: OwnDriverOptions): Promise<OwnDriver> {
  const { definitions, scratch, backend, services, capabilities } = options;
  const dataDir = path.join(scratch, 'data');
  const logFile = path.join(scratch, 'driver.log');
  const scenario = path.join(scratch, 'scenario.yaml');
  await fs.writeFile(scenario, ownScenario);
  await fs.writeFile(logFile, '');
  const elsewhere: Strings = { ...only(defaultTopology(DEFAULT_DRIVER_NAME), 'elsewhere') };
  const log = fileLog(logFile);
  const start = async (nodeId: string, profile: 'all' | 'node' | 'controller') => {
    // Beside its socket there is to be nothing.
    const folder = path.join(scratch, nodeId);
    await fs.mkdir(folder, { recursive: true });
    const socket = path.join(folder, 'csi.sock');
    const around = {
      dataDir,
      socket,
      host: await hostFor(backend, dataDir),
      clock: systemClock,
      definitions,
    };
    const { driver } = await Driver.start({
      ...driverOptions(
        {
          nodeId,
          services: profile,
          backend,
          capabilities,
          maxVolumesPerNode: MAX_VOLUMES_PER_NODE,
          log: log.log,
        },
        around,
      ),
      extraTopologies: [elsewhere],
      scenarios: [scenario],
    });
    return { driver, socket };
  };
  const first = await start('node-1', services);
  // Of a node alone there is nobody who would attach to another one.
  const second = services === 'node' ? undefined : await start(OTHER_NODE, 'node');
  return {
    socket: first.socket,
    hints: { ...ownHintsWithScenario, otherNode: OTHER_NODE, otherTopology: elsewhere },
    traces: [dataDir, logFile],
    stop: async () => {
      await second?.driver.stop(GRACE_MS);
      await first.driver.stop(GRACE_MS);
      await log.close();
    },
  };
}

function only(segments: Strings, value: string): Strings {
  return Object.fromEntries(Object.keys(segments).map((key) => [key, value]));
}

/** Everything that the driver would log, at every level. */
function fileLog(file: string): { log: Log; close(): Promise<void> } {
  let written = Promise.resolve();
  const line = (level: string) => (fields: object, message: string) => {
    const text = `${JSON.stringify({ level, ...fields, message })}\n`;
    written = written.then(() => fs.appendFile(file, text));
  };
  return {
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    close: () => written,
  };
}
