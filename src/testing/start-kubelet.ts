import * as fs from 'node:fs';
import * as path from 'node:path';
import type { EmbeddedDriverOptions } from '../embedded/driver-options';
import { openInProcess } from '../embedded/in-process-rehearsal';
import type { OpenedRehearsal } from '../embedded/opened-rehearsal';
import { openOverSocket } from '../embedded/socket-rehearsal';
import { temporaryFolder } from '../embedded/temporary-folder';
import type { KubeletConfiguration } from '../kubelet/configuration';
import { type Manifest, readManifests } from '../kubelet/manifests/read';
import { KUBELET_VERSIONS, type KubeletVersion } from '../kubelet/versions';
import { type Duration, milliseconds } from './duration';
import { FakeCsi } from './fake-csi';
import { TestKubelet } from './kubelet';
import { readScenarios, type ScenarioSource } from './scenario-source';

/** A driver of our own, on a model of a machine and under virtual time. */
export interface KubeletDriver
  extends Omit<EmbeddedDriverOptions, 'backend' | 'services' | 'nodeId' | 'log'> {
  /** Armed before the first call can come. */
  scenario?: ScenarioSource | readonly ScenarioSource[];
}

/** Manifests as YAML text of several lines, as the path of a file, or as an object. */
export type ManifestSource = string | object;

export interface KubeletOptions {
  /**
   * What it calls. Options (or nothing) make a driver of our own, and time is virtual: ten minutes pass in a moment. A driver
   * of `startFakeCsi()`, or `unix:///…/csi.sock` of any driver, is called over its socket, in real time.
   */
  driver?: KubeletDriver | FakeCsi | string;
  manifests: ManifestSource | readonly ManifestSource[];
  /** Whose ways are played, where the two differ (default: 1.36). */
  kubelet?: KubeletVersion;
  /** How often it posts its status, looks at pods and asks for statistics (default: as a kubelet without configuration). */
  configuration?: {
    nodeStatusUpdateFrequency?: Duration;
    syncFrequency?: Duration;
    volumeStatsAggPeriod?: Duration;
  };
  /** Of uids and jitter (default: 1). */
  seed?: number;
  /** Says again what `driver` implies; the other is an error. */
  realTime?: boolean;
  /** The kubelet's folder, empty; kept at the end. Default: a temporary one, removed at the end. */
  rootDir?: string;
}

/**
 * Starts a kubelet, with the controllers around it, in this process, and waits until the driver is registered.
 * @throws TypeError about an option; ManifestProblems with the place of every mistake; SpecError or ScenarioProblems
 */
export async function startKubelet(options: KubeletOptions): Promise<TestKubelet> {
  const { driver = {}, kubelet: version = '1.36', seed = 1, realTime } = options;
  const isReal = typeof driver === 'string' || driver instanceof FakeCsi;
  if (realTime !== undefined && realTime !== isReal)
    throw new TypeError(
      `realTime: expected ${isReal} or nothing, found ${realTime}: ${isReal ? 'a driver behind a socket lives in real time' : 'a driver of our own lives in virtual time; give one of startFakeCsi() for real time'}`,
    );
  if (!KUBELET_VERSIONS.includes(version))
    throw new TypeError(`kubelet: expected ${KUBELET_VERSIONS.join(' or ')}, found ${String(version)}`);
  if (!Number.isSafeInteger(seed)) throw new TypeError(`seed: expected a whole number, found ${seed}`);
  const configuration = configurationOf(options.configuration ?? {});
  const common = {
    manifests: manifestsOf(options.manifests),
    version,
    seed,
    configuration,
    rootDir: options.rootDir,
  };
  if (typeof driver === 'string') return begun(await openOverSocket({ ...common, endpoint: driver }));
  if (driver instanceof FakeCsi) {
    const { endpoint, machine } = driver;
    return begun(await openOverSocket({ ...common, endpoint, machine }));
  }
  const { scenario, ...start } = driver;
  const scenarios = temporaryFolder('fake-csi-scenarios-');
  try {
    const files = [scenario ?? []].flat().flatMap((source) => writeScenarios(scenarios, source));
    const opened = await openInProcess({ ...common, start, scenarios: files });
    const close = async () => {
      await opened.close();
      fs.rmSync(scenarios, { recursive: true, force: true });
    };
    return await begun({ ...opened, close }, opened.arm);
  } catch (error) {
    fs.rmSync(scenarios, { recursive: true, force: true });
    throw error;
  }
}

/** @throws TypeError */
function configurationOf({
  nodeStatusUpdateFrequency,
  syncFrequency,
  volumeStatsAggPeriod,
}: NonNullable<KubeletOptions['configuration']>): Partial<KubeletConfiguration> {
  const read = (name: keyof KubeletConfiguration, field: string, value: Duration | undefined) => {
    if (value === undefined) return {};
    const ms = milliseconds(value, `configuration.${field}`);
    if (ms >= 1) return { [name]: ms };
    throw new TypeError(`configuration.${field}: expected at least 1 ms, found ${JSON.stringify(value)}`);
  };
  return {
    ...read('nodeStatusUpdateMs', 'nodeStatusUpdateFrequency', nodeStatusUpdateFrequency),
    ...read('syncMs', 'syncFrequency', syncFrequency),
    ...read('volumeStatsMs', 'volumeStatsAggPeriod', volumeStatsAggPeriod),
  };
}

async function begun(
  opened: OpenedRehearsal,
  arm?: (name: string, text: string) => Promise<void>,
): Promise<TestKubelet> {
  try {
    await opened.rehearsal.begin();
  } catch (error) {
    await opened.close();
    throw error;
  }
  return new TestKubelet(opened, arm);
}

function writeScenarios(folder: string, source: ScenarioSource): string[] {
  return readScenarios(source).map(({ name, text }) => {
    const file = path.join(folder, `${name}.yaml`);
    fs.writeFileSync(file, text);
    return file;
  });
}

/** @throws ManifestProblems; Error with one line */
function manifestsOf(sources: KubeletOptions['manifests']): Manifest[] {
  const list: readonly ManifestSource[] = Array.isArray(sources) ? sources : [sources as ManifestSource];
  return list.flatMap((source, index) => {
    const name = list.length === 1 ? 'manifests' : `manifests[${index}]`;
    if (typeof source !== 'string') return readManifests(JSON.stringify(source, null, 2), name);
    if (source.includes('\n') || source.trimStart().startsWith('{')) return readManifests(source, name);
    try {
      return readManifests(fs.readFileSync(source, 'utf8'), source);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new Error(
        `${name}: expected YAML text of several lines, an object, or a file that can be read; found ${JSON.stringify(source)} (${code})`,
      );
    }
  });
}
