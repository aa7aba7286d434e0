import { hostname } from 'node:os';
import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { EXIT } from '../exit-codes';
import { counted, print, printJson, table } from '../output';

interface Arguments extends DriverArguments {
  registered: boolean;
}

export const status: Command<Arguments> = {
  command: 'status',
  describe: 'Show the processes on the data folder, and what waits in them',
  builder: (y: Argv) =>
    y.options({
      ...driverOptions,
      registered: {
        type: 'boolean',
        default: false,
        describe:
          'Say only whether the kubelet of this node ($FAKE_CSI_NODE_ID, then the host name) has the driver; exit code 1 when not',
      },
    }),
  run: async (args) => {
    const client = await connect(args);
    if (args.registered) return registered(client, args.json);
    const [reply, held] = await Promise.all([client.status({ all: true }), client.held({ all: true })]);
    if (args.json) {
      printJson({ ...reply, held: held.calls });
      return EXIT.OK;
    }
    print(
      table(
        [
          'PROCESS',
          'PID',
          'SERVICES',
          'NODE',
          'BACKEND',
          'CALLS',
          'HELD',
          'VOLUMES',
          'REGISTRATION',
          'SCENARIOS',
        ],
        reply.processes.map((one) => [
          one.process,
          `${one.pid}`,
          one.services,
          one.nodeId ?? '',
          one.backend,
          `${one.lastCall}`,
          `${one.held.delay + one.held.hang}`,
          `${one.volumes}`,
          one.registration.state,
          `${one.scenarios.armed} of ${one.scenarios.loaded} armed`,
        ]),
      ),
    );
    for (const { process, registration } of reply.processes) {
      if (registration.why !== undefined) print(`  ${process}: ${registration.state}: ${registration.why}`);
      if (registration.mountPropagation !== undefined)
        print(`  ${process}: ${registration.mountPropagation}`);
    }
    for (const call of held.calls)
      print(
        `  ${call.kind} of ${call.method} (call ${call.call}) by ${call.scenario}/${call.rule} for ${Math.round(call.heldMs / 1000)} s`,
      );
    const { formatProblem } =
      require('../../scenarios/language/problems') as typeof import('../../scenarios/language/problems');
    const problems = new Map(
      reply.processes.flatMap((one) =>
        one.problems.map((problem) => [formatProblem(problem), problem] as const),
      ),
    );
    for (const line of problems.keys()) print(line);
    if (reply.unreachable.length > 0)
      print(
        `${counted(reply.unreachable.length, 'process')} did not answer: ${reply.unreachable.join(', ')}`,
      );
    return EXIT.OK;
  },
};

/** For a readiness probe: of the processes on a shared folder it is the one of this node that counts. */
async function registered(
  client: Awaited<ReturnType<typeof connect>>,
  json: boolean | undefined,
): Promise<number> {
  const { processes } = await client.status({ all: true });
  const nodeId = process.env.FAKE_CSI_NODE_ID ?? hostname();
  const own = processes.find((one) => one.nodeId === nodeId && one.services !== 'controller');
  if (own === undefined) throw new Error(`no driver of node ${nodeId} answers on this data folder`);
  const { state, why, mountPropagation } = own.registration;
  const ready = state === 'registered' && mountPropagation === undefined;
  if (json) printJson({ nodeId, ready, ...own.registration });
  else print([state, why, mountPropagation].filter((part) => part !== undefined).join(': '));
  return ready ? EXIT.OK : EXIT.FAILED;
}
