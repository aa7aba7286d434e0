import type { Rule, Scenario } from '../../../scenarios/model';
import type { ReplyOf } from '../../api/route';
import type { Routes } from '../../api/routes';
import { ControlError } from '../../error';
import type { Context } from '../context';
import type { Handlers } from '../exchange';
import { everywhere, spread } from '../reach';

type Held = ReplyOf<Routes['held']>['calls'][number];

export const heldHandlers = {
  held: ({ query: { all = true } }, context) => heldCalls(context, all),

  release: async ({ body: { scenario } }, context) => {
    if (scenario !== undefined) context.driver.scenarios.find(scenario);
    const { calls } = await heldCalls(context, true);
    const hung = calls.filter(
      (call) => call.kind === 'hang' && (scenario === undefined || call.scenario === scenario),
    );
    await context.driver.scenarios.release(scenario);
    return { released: hung.length, ...(await spread(context)) };
  },

  setMachine: async ({ params, query: { all = true }, body: { state } }, context) => {
    const { scenario, machine } = params;
    const refusal = setHere(context, scenario, machine, state);
    if (!all) {
      if (refusal) throw refusal;
      return { processes: [context.driver.processName], unreachable: [] };
    }
    const reached = await everywhere(context, all, (peer) =>
      peer.setMachine(scenario, machine, state, { all: false }),
    );
    const others = reached.processes.slice(1);
    // It may be a scenario that another process alone was started with.
    if (refusal && others.length === 0) throw refusal;
    return refusal ? { ...reached, processes: others } : reached;
  },

  openSocket: async ({ query: { all = true } }, context) => {
    await context.driver.reopenSocket();
    return everywhere(context, all, (peer) => peer.openSocket({ all: false }));
  },

  reset: async ({ body: { scenario, mark } }, context) => {
    await context.driver.reset(scenario);
    const reached = await spread(context, scenario === undefined);
    if (mark !== undefined)
      context.driver.journal.append({ type: 'event', event: 'mark', details: { name: mark } });
    return reached;
  },
} satisfies Partial<Handlers>;

async function heldCalls(context: Context, all: boolean): Promise<{ calls: Held[]; unreachable: string[] }> {
  const { engine, env, processName } = context.driver;
  const now = env.clock.now();
  const own = engine.held.list().map(({ since, volumeId, ...call }) => ({
    process: processName,
    ...call,
    ...(volumeId !== undefined && { volumeId }),
    since: new Date(since).toISOString(),
    heldMs: now - since,
  }));
  if (!all) return { calls: own, unreachable: [] };
  const { answers, unreachable } = await context.peers.ask(
    async (peer) => (await peer.held({ all: false })).calls,
  );
  const calls = [...own, ...answers.flat()].sort((a, b) => (a.since < b.since ? -1 : 1));
  return { calls, unreachable: [...unreachable] };
}

/** @returns what this process has against it; undefined: it is done. */
function setHere(
  { driver: { engine } }: Context,
  scenario: string,
  machine: string,
  state: string,
): ControlError | undefined {
  const loaded = engine.scenario(scenario);
  if (!loaded) {
    const names = engine.status().map(({ name }) => name);
    return new ControlError(
      'not-found',
      404,
      `no scenario ${JSON.stringify(scenario)}; loaded: ${names.join(', ') || 'none'}`,
    );
  }
  const machines = Object.keys(loaded.machines);
  if (!machines.includes(machine))
    return new ControlError(
      'not-found',
      404,
      `scenario ${scenario} has no machine ${JSON.stringify(machine)}; it has ${machines.join(', ') || 'none'}`,
    );
  const states = statesOf(loaded, machine);
  if (!states.includes(state))
    return new ControlError(
      'invalid-request',
      400,
      `machine ${machine} of scenario ${scenario} has no state ${JSON.stringify(state)}; its rules know ${states.join(', ')}`,
    );
  engine.setMachine(scenario, machine, state);
  return undefined;
}

/** States have no list of their own: they are what rules ask for and go to. */
function statesOf({ machines, rules }: Scenario, machine: string): string[] {
  const initial = machines[machine]?.initial;
  return [
    ...new Set([
      ...(initial === undefined ? [] : [initial]),
      ...rules.flatMap((rule) => namedBy(rule, machine)),
    ]),
  ];
}

function namedBy({ when, stages }: Rule, machine: string): string[] {
  const gone = stages.flatMap(({ steps }) =>
    steps.flatMap(({ action }) =>
      action.kind === 'goto' && action.machine === machine ? [action.state] : [],
    ),
  );
  return [...(when.machine?.[machine] ?? []), ...gone];
}
