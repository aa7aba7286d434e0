import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { connectCsi } from '../../csi/client';
import { loadCsi } from '../../csi/load';
import type { MachineFor, NodeMachine } from '../../kubelet/machine';
import { type Manifest, readManifests } from '../../kubelet/manifests/read';
import { FIRST_NODE, type Outcome, Rehearsal } from '../../kubelet/rehearsal';
import type { Step } from '../../kubelet/steps/grammar';
import { realTime, type TimeKeeper, virtualTime } from '../../kubelet/time-keeper';
import { entryLine } from '../../kubelet/timeline/formats';
import { Timeline } from '../../kubelet/timeline/timeline';
import type { KubeletVersion } from '../../kubelet/versions';
import { socketPathOf } from '../../server/endpoint';
import { systemClock } from '../../util/clock';
import { ensureFolder } from '../../util/files';
import { once } from '../../util/once';
import { Turns } from '../../util/turns';
import { VirtualClock } from '../../util/virtual-clock';
import { hostMountView } from './host-mount-view';
import { InProcessMachine, socketOf } from './in-process-machine';

export interface RunOptions {
  readonly manifests: readonly string[];
  readonly scenarios: readonly string[];
  readonly steps: readonly Step[];
  readonly version: KubeletVersion;
  readonly seed: number;
  /** Undefined: a driver of our own, in this process and under virtual time. */
  readonly endpoint: string | undefined;
  /** The kubelet's root directory, kept at the end. Undefined: a temporary one. */
  readonly rootDir: string | undefined;
  readonly driverName: string | undefined;
  readonly capabilities: string | undefined;
  /** Lines as they come, in real time. */
  readonly print: ((line: string) => void) | undefined;
}

export interface Rehearsed {
  readonly outcome: Outcome;
  readonly rehearsal: Rehearsal;
  readonly timeline: Timeline;
}

/** The same for every rehearsal, and never changed: reading it takes 50 ms. */
const definitions = once(() => loadCsi());

/** Between the first node's folder and the name of another node. */
const OTHER_NODE = '.of-';
const KUBELET_ROOT = '/var/lib/kubelet';
const DATA_DIR = '/var/lib/fake-csi';

/** Puts a driver, a kubelet and manifests together, plays the steps and takes everything down. @throws Error, ManifestProblems */
export async function rehearse(options: RunOptions): Promise<Rehearsed> {
  const manifests = options.manifests.flatMap((file) => readManifests(textOf(file), file));
  return options.endpoint === undefined
    ? inProcess(options, manifests)
    : overSocket(options, manifests, options.endpoint);
}

/** @throws Error with one line */
function textOf(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(
      `${file}: expected a file of manifests that can be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

async function inProcess(options: RunOptions, manifests: readonly Manifest[]): Promise<Rehearsed> {
  const named = options.rootDir === undefined ? undefined : emptyFolder(options.rootDir);
  const scratch = temporaryFolder();
  const rootDir = named ?? emptyFolder(path.join(scratch, 'kubelet'));
  const dataDir = path.join(scratch, 'data');
  const clock = new VirtualClock();
  const turns = new Turns();
  const timeline = new Timeline(
    clock,
    cleaner(rootDir, [
      [dataDir, DATA_DIR],
      [scratch, '/run'],
    ]),
  );
  const machines: InProcessMachine[] = [];
  const startMachine = async (nodeName: string, services: 'all' | 'node' | 'controller') => {
    const machine = new InProcessMachine({
      nodeName,
      clock,
      turns,
      definitions: definitions(),
      dataDir,
      socket: socketOf(dataDir, nodeName),
      seed: options.seed,
      scenarios: options.scenarios,
      start: {
        services,
        ...(options.driverName !== undefined && { driverName: options.driverName }),
        ...(options.capabilities !== undefined && { capabilities: options.capabilities }),
      },
      said: (text) => timeline.add({ who: 'driver', node: nodeName, kind: 'object', text }),
    });
    machines.push(machine);
    await machine.startDriver();
    return machine.machine;
  };
  try {
    // With more nodes than one the controllers' plugin is a process of its own, as in a cluster: it outlives every node.
    const isAlone = nodesOf(manifests).size <= 1;
    const controllerMachine = isAlone ? undefined : await startMachine('controller', 'controller');
    const machineFor = (nodeName: string) => startMachine(nodeName, isAlone ? 'all' : 'node');
    return await play(options, manifests, {
      time: virtualTime(clock, turns),
      timeline,
      machineFor,
      rootDir,
      ...(controllerMachine && { controllerMachine }),
    });
  } finally {
    for (const machine of machines) await machine.killDriver();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function overSocket(
  options: RunOptions,
  manifests: readonly Manifest[],
  endpoint: string,
): Promise<Rehearsed> {
  const socket = socketPathOf(endpoint);
  const { createLinuxHost } = require('../../host/linux') as typeof import('../../host/linux');
  const named = options.rootDir === undefined ? undefined : emptyFolder(options.rootDir);
  const scratch = temporaryFolder();
  const rootDir = named ?? emptyFolder(path.join(scratch, 'kubelet'));
  const host = createLinuxHost({ stateDir: scratch, cacheDir: path.join(scratch, 'cache') });
  const { print } = options;
  const timeline = new Timeline(systemClock, cleaner(rootDir, []), (entry) => print?.(entryLine(entry)));
  const machineFor: MachineFor = async (nodeName) => {
    if (nodeName !== FIRST_NODE)
      throw new Error(
        `node ${nodeName}: with --endpoint there is one node, ${FIRST_NODE}: the driver is on one machine`,
      );
    return { mounts: hostMountView(() => host.mounts), connect: () => connectCsi(socket, definitions()) };
  };
  try {
    return await play(options, manifests, { time: realTime(systemClock), timeline, machineFor, rootDir });
  } finally {
    // What the driver left mounted is its own, and must not be removed as files.
    const left = (await host.mounts.list()).some(({ mountPoint }) => mountPoint.startsWith(`${scratch}/`));
    if (left)
      process.stderr.write(
        `fake-csi: mounts are left below ${scratch}: unmount them, then remove the folder\n`,
      );
    else fs.rmSync(scratch, { recursive: true, force: true });
  }
}

interface Surroundings {
  readonly time: TimeKeeper;
  readonly timeline: Timeline;
  readonly machineFor: MachineFor;
  readonly controllerMachine?: NodeMachine;
  readonly rootDir: string;
}

async function play(
  { version, seed, steps }: RunOptions,
  manifests: readonly Manifest[],
  { rootDir, timeline, ...around }: Surroundings,
): Promise<Rehearsed> {
  const rehearsal = new Rehearsal({
    ...around,
    timeline,
    version,
    seed,
    manifests,
    rootDirOf: (nodeName) => (nodeName === FIRST_NODE ? rootDir : `${rootDir}${OTHER_NODE}${nodeName}`),
  });
  try {
    return { outcome: await rehearsal.run(steps), rehearsal, timeline };
  } finally {
    rehearsal.stop();
  }
}

function temporaryFolder(): string {
  // A socket's path has 107 bytes.
  const base = Buffer.byteLength(tmpdir()) <= 80 ? tmpdir() : '/tmp';
  return fs.realpathSync(fs.mkdtempSync(path.join(base, 'rehearse-')));
}

/** @returns its real path. @throws Error with one line that a person can act on */
function emptyFolder(named: string): string {
  const folder = path.resolve(named);
  try {
    ensureFolder(folder, 0o755);
    fs.accessSync(folder, fs.constants.W_OK);
  } catch (error) {
    throw new Error(
      `--root-dir ${folder}: it cannot be made or written (${(error as NodeJS.ErrnoException).code}); choose a folder that can`,
    );
  }
  if (fs.readdirSync(folder).length > 0)
    throw new Error(
      `--root-dir ${folder}: expected an empty folder, found files: a rehearsal begins on a new node`,
    );
  return fs.realpathSync(folder);
}

/** Nodes that pods name, and the first one. */
function nodesOf(manifests: readonly Manifest[]): Set<string> {
  const named = manifests.flatMap((entry) => {
    if (entry.kind === 'Pod') return entry.manifest.spec.nodeName ?? [];
    return entry.kind === 'StatefulSet' ? (entry.manifest.spec.template.spec.nodeName ?? []) : [];
  });
  return new Set([FIRST_NODE, ...named]);
}

/** Paths of this machine as a node would have them: the same output everywhere. */
function cleaner(
  rootDir: string,
  replacements: readonly (readonly [string, string])[],
): (text: string) => string {
  const roots = new RegExp(`${escaped(rootDir)}(${escaped(OTHER_NODE)}[a-z0-9.-]+)?`, 'g');
  return (text) =>
    replacements.reduce(
      (cleaned, [real, shown]) => cleaned.replaceAll(real, shown),
      text.replace(roots, KUBELET_ROOT),
    );
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
