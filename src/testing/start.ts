import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { loadCsi } from '../csi/load';
import { driverOptions, hostFor } from '../embedded/driver-options';
import { temporaryFolder } from '../embedded/temporary-folder';
import { socketPathOf } from '../server/endpoint';
import { systemClock } from '../util/clock';
import { writeFileAtomic } from '../util/files';
import { once } from '../util/once';
import { CallQueries } from './calls';
import { StableClient } from './client';
import { milliseconds } from './duration';
import { FakeCsi } from './fake-csi';
import { Fires } from './fires';
import { Lives } from './lives';
import type { StartOptions } from './options';
import { Recording } from './recording';
import { readScenarios, type ScenarioText } from './scenario-source';

/** The same for every driver, and never changed: reading it takes 50 ms. */
const definitions = once(() => loadCsi());

/**
 * Starts a driver in this process.
 * @throws Error with one line about an option; SpecError or ScenarioProblems about its scenarios
 */
export async function startFakeCsi(options: StartOptions = {}): Promise<FakeCsi> {
  const scenarios = [options.scenario ?? []].flat().flatMap((source) => readScenarios(source));
  const scratch = temporaryFolder('fake-csi-');
  try {
    return await startIn(scratch, options, scenarios);
  } catch (error) {
    await fs.rm(scratch, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(
  scratch: string,
  options: StartOptions,
  scenarios: readonly ScenarioText[],
): Promise<FakeCsi> {
  const { clock = systemClock, restartAfter = 0 } = options;
  const dataDir = path.resolve(options.dataDir ?? path.join(scratch, 'data'));
  const socket = socketPathOf(options.endpoint ?? path.join(scratch, 'csi.sock'));
  const host = await hostFor(options.backend ?? 'memory', dataDir);
  const recording = new Recording();
  const fires = new Fires();
  const client = new StableClient(socket, definitions());
  const lives = new Lives({
    driver: driverOptions(options, { dataDir, socket, host, clock, definitions: definitions() }),
    restartAfterMs: restartAfter === false ? undefined : milliseconds(restartAfter, 'restartAfter'),
    recording,
    fires,
    client,
  });
  // Where put() keeps them, so that they are armed before the first call and can be taken out again.
  const folder = path.join(dataDir, 'scenarios');
  if (scenarios.length > 0) await fs.mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { name, text } of scenarios)
    await writeFileAtomic(path.join(folder, `${name}.yaml`), text, 'process');
  await lives.start();
  return new FakeCsi({
    lives,
    recording,
    queries: new CallQueries(recording, clock),
    fires,
    client,
    host,
    clock,
    socket,
    dataDir,
    scratch,
    keepsData: options.dataDir !== undefined,
  });
}
