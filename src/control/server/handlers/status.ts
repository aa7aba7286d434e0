import type { HostAbilities } from '../../../host/host';
import { ability, MOUNT_PROPAGATION } from '../../../server/abilities';
import { leaksOf } from '../../../server/inspect';
import { namesIn } from '../../../util/files';
import type { ReplyOf } from '../../api/route';
import type { Routes } from '../../api/routes';
import type { Context } from '../context';
import { type Handlers, TextReply } from '../exchange';

type ProcessStatus = ReplyOf<Routes['status']>['processes'][number];

export const statusHandlers = {
  status: async ({ query: { all = false } }, context) => {
    const own = ownStatus(context);
    if (!all) return { processes: [own], unreachable: [] };
    const { answers, unreachable } = await context.peers.ask(
      async (peer) => (await peer.status({ all: false })).processes,
    );
    return { processes: [own, ...answers.flat().sort(byName)], unreachable: [...unreachable] };
  },

  doctor: async (_, { driver: { env, processName, mountsReachKubelet: reach } }) => ({
    process: processName,
    host: env.host.kind,
    abilities: [
      ...listed(await env.host.abilities()),
      ...(reach === undefined ? [] : [ability(MOUNT_PROPAGATION, reach)]),
    ],
    leaks: await leaksOf(env),
  }),

  metrics: async (_, context) => metrics(context),
  metricsV1: async (_, context) => metrics(context),
} satisfies Partial<Handlers>;

const byName = (a: ProcessStatus, b: ProcessStatus) => (a.process < b.process ? -1 : 1);

async function metrics(context: Context): Promise<TextReply> {
  const { type, text } = await context.metrics.text();
  return new TextReply(type, text);
}

function ownStatus({ driver, startedAt, places }: Context): ProcessStatus {
  const { env, engine, scenarios, journal, processName, socketPath } = driver;
  const { settings, layout, node } = env;
  const { socket, url } = places();
  const held = engine.held.list();
  const loaded = engine.status();
  return {
    process: processName,
    pid: process.pid,
    version: settings.vendorVersion,
    driverName: settings.driverName,
    services: profileOf(processName),
    ...(node && { nodeId: node.record.id }),
    backend: settings.defaultBackend,
    dataDir: layout.root,
    csiSocket: socketPath,
    ...(socket !== undefined && { controlSocket: socket }),
    ...(url !== undefined && { controlUrl: url }),
    startedAt,
    lastCall: journal.lastCall,
    held: {
      delay: held.filter(({ kind }) => kind === 'delay').length,
      hang: held.filter(({ kind }) => kind === 'hang').length,
    },
    volumes: namesIn(layout.volumes).filter((name) => !name.startsWith('.')).length,
    registration: {
      ...(driver.registration?.status() ?? { state: 'off' }),
      ...(typeof driver.mountsReachKubelet === 'string' && { mountPropagation: driver.mountsReachKubelet }),
    },
    scenarios: {
      loaded: loaded.length,
      armed: loaded.filter(({ armed }) => armed).length,
      reloadFailures: scenarios.failures,
    },
    problems: scenarios.problems(),
  };
}

/** A process is named `<profile>-<key of its node>`. */
function profileOf(processName: string): ProcessStatus['services'] {
  const [profile] = processName.split('-', 1);
  return profile === 'node' || profile === 'controller' ? profile : 'all';
}

function listed(abilities: HostAbilities): ReplyOf<Routes['doctor']>['abilities'] {
  const { filesystems, ...others } = abilities;
  const all = [
    ...Object.entries(others),
    ...Object.entries(filesystems).map(([type, able]) => [`filesystem ${type}`, able] as const),
  ];
  return all.map(([name, able]) => ability(name, able));
}
