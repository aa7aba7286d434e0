import type { Argv } from 'yargs';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { counted, print, printJson, table } from '../output';

export const status: Command<DriverArguments> = {
  command: 'status',
  describe: 'Show the processes on the data folder, and what waits in them',
  builder: (y: Argv) => y.options(driverOptions),
  run: async (args) => {
    const client = await connect(args);
    const [reply, held] = await Promise.all([client.status({ all: true }), client.held({ all: true })]);
    if (args.json) return printJson({ ...reply, held: held.calls });
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
  },
};
