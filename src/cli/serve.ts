import { once } from 'node:events';
import * as path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import pino, { type Logger } from 'pino';
import type { BackendName } from '../backends/backend';
import type { ControlOptions, ControlServer } from '../control';
import type { Host } from '../host/host';
import { Driver } from '../server/driver';
import { systemClock } from '../util/clock';
import { dataDirOf } from './data-dir';
import { FreeMemory } from './free-memory';
import { readConfig } from './serve-config';
import type { ServeArguments } from './serve-options';
import { packageVersion } from './version';

/**
 * How far the old generation may grow beyond what lives in it before it is collected, in percent. Under load most of what
 * a call makes outlives two scavenges and dies soon after; V8's own limit let 25 MiB of live objects hold 95.
 */
const HEAP_GROWING_PERCENT = 50;

/** What a CO that waits for the socket has for its first call. */
const CONTROL_AFTER_MS = 50;

/** `fake-csi serve`: until a signal ends it. */
export async function run(args: ServeArguments): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig(args, process.env);
  const log = pino({ level: args.logLevel, base: null }, pino.destination({ dest: 2, sync: false }));
  const { host, backend, why } = await chooseMachine(args, config.dataDir);
  process.on('unhandledRejection', (error) => log.error({ error: String(error) }, 'unhandled rejection'));
  const { control: controlOptions, ...driverConfig } = config;
  const { driver, recovery } = await Driver.start({
    ...driverConfig,
    version: packageVersion(),
    backend,
    host,
    durability: args.durability ?? (backend === 'memory' ? 'process' : 'durable'),
    clock: systemClock,
    log,
  });
  const starting = startControl(driver, controlOptions);
  const stopped = stopOnSignal(driver, starting, log);
  const trim = memoryTrimmer(host);
  if (trim) new FreeMemory({ calls: () => driver.pipeline.callCount, trim, clock: systemClock }).start();
  process.stdout.write(greeting(driver, await starting, config, backend, why, recovery.volumes));
  await stopped;
}

/**
 * Started after the CSI socket listens: nobody waits for it to come up; loaded only where there is to be one. Loading takes
 * tens of milliseconds, and a CO that waited for the socket asks at once.
 */
async function startControl(
  driver: Driver,
  options: ControlOptions | undefined,
): Promise<ControlServer | undefined> {
  if (options === undefined) return undefined;
  await systemClock.sleep(CONTROL_AFTER_MS);
  try {
    const { ControlServer } = require('../control') as typeof import('../control');
    return await ControlServer.start(driver, options);
  } catch (error) {
    await driver.stop();
    throw error;
  }
}

/** The kernel where it lets us mount; otherwise a model of it, and the reason. */
async function chooseMachine(
  args: ServeArguments,
  dataDir: string,
): Promise<{ host: Host; backend: BackendName; why: string | undefined }> {
  if (args.backend === 'memory') return { host: memoryHost(), backend: 'memory', why: undefined };
  const { createLinuxHost } = require('../host/linux') as typeof import('../host/linux');
  const host = createLinuxHost({ stateDir: dataDir, cacheDir: path.join(dataDir, 'cache') });
  const abilities = await host.abilities();
  const wanted = args.backend ?? 'loop';
  const missing = abilities.mount !== true ? abilities.mount : wanted === 'loop' ? abilities.loop : true;
  if (missing === true) return { host, backend: wanted, why: undefined };
  if (args.backend !== undefined) throw new Error(`--backend ${args.backend}: not possible here: ${missing}`);
  return { host: memoryHost(), backend: 'memory', why: missing };
}

async function stopOnSignal(
  driver: Driver,
  starting: Promise<ControlServer | undefined>,
  log: Logger,
): Promise<void> {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const [signal] = await Promise.race(signals.map((name) => once(process, name)));
  log.info({ signal }, 'stopping: running calls may end');
  // A second signal means now.
  for (const name of signals) process.once(name, () => process.exit(1));
  // Before anything that takes time: the kubelet is to send nothing more.
  await driver.registration?.stop();
  await (await starting)?.stop();
  await driver.stop();
  process.exit(0);
}

function greeting(
  driver: Driver,
  control: ControlServer | undefined,
  config: ReturnType<typeof readConfig>,
  backend: BackendName,
  why: string | undefined,
  volumes: number,
): string {
  const socket = driver.socketPath;
  // The data folder of a checkout is found by itself; another one has to be named.
  const elsewhere = config.dataDir === dataDirOf(undefined, {}) ? '' : ` --data-dir ${config.dataDir}`;
  const command = `npx fake-csi${elsewhere}`;
  const lines = [
    `fake-csi ${packageVersion()} serves ${config.driverName} (${config.profile}) as node ${config.nodeId}`,
    `  socket    unix://${socket}`,
    `  data      ${config.dataDir} (${volumes} volumes)`,
    `  backend   ${backend}${backend === 'loop' ? ` with ${config.fsType}: real disks, real filesystems` : ''}`,
  ];
  if (control?.socket !== undefined) lines.push(`  control   ${control.socket}`);
  if (control?.url !== undefined) lines.push(`            ${control.url} with a bearer token`);
  if (why !== undefined) lines.push(`            nothing is really mounted: ${why}`);
  const { registration, kubeletDir, mountsReachKubelet: reach } = driver;
  if (registration !== undefined) lines.push(`  kubelet   ${registration.status().socket}`);
  else if (kubeletDir !== undefined)
    lines.push(`  kubelet   ${kubeletDir}; somebody else registers the driver`);
  if (typeof reach === 'string') lines.push(`            ${reach}`);
  lines.push(
    '',
    'Try next, from another terminal:',
    ...columns([
      [`${command} rule "NodeStageVolume: 2*UNAVAILABLE(busy) -> ok"`, 'fail twice, then work'],
      [`${command} calls --follow`, 'what callers do, as it happens'],
      [
        `npm run sanity -- ${backend === 'memory' ? 'memory' : 'ext4'}`,
        'csi-sanity against a driver of its own',
      ],
      [`csi-sanity --csi.endpoint=${socket}`, 'or against this one'],
      ['docs/scenarios.md', 'every failure that comes ready to use'],
    ]),
    '',
  );
  return `${lines.join('\n')}\n`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

/** Undefined where the C library has no such thing, and where nothing native is loaded. */
function memoryTrimmer(host: Host): (() => Promise<void>) | undefined {
  if (host.kind === 'memory') return undefined;
  const libc = require('../host/libc/trim') as typeof import('../host/libc/trim');
  return libc.memoryTrimmer();
}

function memoryHost(): Host {
  const { createMemoryHost } = require('../host/memory') as typeof import('../host/memory');
  return createMemoryHost();
}
