import * as fs from 'node:fs';
import * as path from 'node:path';
import type { MemoryControl } from '../host/memory';
import type { Manifest } from '../kubelet/manifests/read';
import { KubeletPaths } from '../kubelet/names';
import { FIRST_NODE } from '../kubelet/rehearsal';
import { virtualTime } from '../kubelet/time-keeper';
import { Timeline } from '../kubelet/timeline/timeline';
import { DEFAULT_DRIVER_NAME } from '../server/defaults';
import { Turns } from '../util/turns';
import { VirtualClock } from '../util/virtual-clock';
import type { EmbeddedDriverOptions } from './driver-options';
import { InProcessMachine, socketOf } from './in-process-machine';
import {
  cleaner,
  definitions,
  emptyFolder,
  KUBELET_ROOT,
  type OpenedRehearsal,
  type OpenOptions,
  registrationDefinition,
  rehearsalIn,
  rootDirOf,
} from './opened-rehearsal';
import { temporaryFolder } from './temporary-folder';

export interface InProcessOptions extends OpenOptions {
  readonly start: EmbeddedDriverOptions;
  /** Scenario files of the driver. */
  readonly scenarios: readonly string[];
}

export interface InProcessRehearsal extends OpenedRehearsal {
  /** Arms a scenario with every driver. @throws ScenarioProblems */
  arm(name: string, text: string): Promise<void>;
  /** The model of the first node's machine, as it is now: another one after a reboot. */
  control(): MemoryControl;
}

const DATA_DIR = '/var/lib/fake-csi';

/** As it is deployed where nothing attaches (deploy/base). */
const WITHOUT_ATTACH = '-PUBLISH_UNPUBLISH_VOLUME,-PUBLISH_READONLY,-LIST_VOLUMES_PUBLISHED_NODES';

/** Whether the manifests say that nobody attaches volumes of the driver, and nobody says what it can do. */
function saysUnattached({ manifests, start }: InProcessOptions, driverName: string): boolean {
  if (start.capabilities !== undefined) return false;
  return manifests.some(
    (entry) =>
      entry.kind === 'CSIDriver' &&
      entry.manifest.metadata.name === driverName &&
      !entry.manifest.spec.attachRequired,
  );
}

/** With drivers of our own on models of machines, in this process and under virtual time. */
export async function openInProcess(options: InProcessOptions): Promise<InProcessRehearsal> {
  const named = options.rootDir === undefined ? undefined : emptyFolder(options.rootDir);
  const scratch = temporaryFolder('rehearse-');
  const rootDir = named ?? emptyFolder(path.join(scratch, 'kubelet'));
  const dataDir = path.join(scratch, 'data');
  const clock = new VirtualClock();
  const turns = new Turns();
  const nodes = nodesOf(options.manifests);
  const { driverName = DEFAULT_DRIVER_NAME } = options.start;
  const isUnattached = saysUnattached(options, driverName);
  const start = isUnattached ? { ...options.start, capabilities: WITHOUT_ATTACH } : options.start;
  const asSeen = path.join(KUBELET_ROOT, 'plugins', driverName, 'csi.sock');
  const timeline = new Timeline(
    clock,
    cleaner(rootDir, [
      [dataDir, DATA_DIR],
      ...[...nodes].map((name) => [socketOf(dataDir, name), asSeen] as const),
      [scratch, '/run'],
    ]),
  );
  if (isUnattached)
    timeline.add({
      who: 'rehearsal',
      kind: 'note',
      text: `CSIDriver ${driverName} says attachRequired: false: the driver runs with --capabilities=${WITHOUT_ATTACH}`,
    });
  const machines: InProcessMachine[] = [];
  const startMachine = async (nodeName: string, services: 'all' | 'node' | 'controller') => {
    const machine = new InProcessMachine({
      nodeName,
      clock,
      turns,
      definitions: definitions(),
      registration: registrationDefinition(),
      dataDir,
      socket: socketOf(dataDir, nodeName),
      registry: services === 'controller' ? undefined : registryOf(rootDir, nodeName),
      seed: options.seed,
      scenarios: options.scenarios,
      start: { ...start, services },
      said: (text) => timeline.add({ who: 'driver', node: nodeName, kind: 'object', text }),
    });
    machines.push(machine);
    await machine.startDriver();
    return machine.machine;
  };
  const removeAll = async () => {
    for (const machine of machines) await machine.killDriver();
    fs.rmSync(scratch, { recursive: true, force: true });
  };
  try {
    // With more nodes than one the controllers' plugin is a process of its own, as in a cluster: it outlives every node.
    const isAlone = nodes.size <= 1;
    const controllerMachine = isAlone ? undefined : await startMachine('controller', 'controller');
    const rehearsal = rehearsalIn(rootDir, options, {
      time: virtualTime(clock, turns),
      timeline,
      machineFor: (nodeName) => startMachine(nodeName, isAlone ? 'all' : 'node'),
      ...(controllerMachine && { controllerMachine }),
    });
    return {
      rehearsal,
      timeline,
      rootDir,
      arm: async (name, text) => {
        for (const machine of machines) await machine.arm(name, text);
      },
      control: () => {
        const machine = machines.find(({ nodeName }) => nodeName === FIRST_NODE);
        if (!machine) throw new Error(`expected ${FIRST_NODE}: a rehearsal that has begun has it`);
        return machine.control;
      },
      close: async () => {
        rehearsal.stop();
        await removeAll();
      },
    };
  } catch (error) {
    await removeAll();
    throw error;
  }
}

function registryOf(rootDir: string, nodeName: string): string {
  return new KubeletPaths(rootDirOf(rootDir, nodeName)).registrationSockets;
}

/** Nodes that pods name, and the first one. */
function nodesOf(manifests: readonly Manifest[]): Set<string> {
  const named = manifests.flatMap((entry) => {
    if (entry.kind === 'Pod') return entry.manifest.spec.nodeName ?? [];
    return entry.kind === 'StatefulSet' ? (entry.manifest.spec.template.spec.nodeName ?? []) : [];
  });
  return new Set([FIRST_NODE, ...named]);
}
