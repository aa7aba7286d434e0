import type { Argv } from 'yargs';
import type { CallsQuery } from '../../control/client';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { print, printJson, table } from '../output';

interface Arguments extends DriverArguments {
  rpc?: string[];
  volume?: string;
  pvc?: string;
  since?: string;
  code?: string[];
  fired?: string;
  limit: number;
  follow: boolean;
}

type Call = import('../../control/client').ControlReply<'calls'>['calls'][number];

export const calls: Command<Arguments> = {
  command: 'calls',
  describe: 'Show the calls of every process, oldest first',
  builder: (y: Argv) =>
    y
      .options({
        ...driverOptions,
        rpc: { type: 'string', array: true, describe: 'Methods; globs such as Node*' },
        volume: { type: 'string', describe: 'Volume id' },
        pvc: { type: 'string', describe: 'Claim, as NAMESPACE/NAME or NAME' },
        since: { type: 'string', describe: '10m ago, a time, #SEQ, or a mark' },
        code: { type: 'string', array: true, describe: 'Answers; globs' },
        fired: { type: 'string', describe: 'Rule that fired, as scenario/rule; a glob' },
        limit: { type: 'number', default: 50, describe: 'The newest so many; 0 is all' },
        follow: { type: 'boolean', alias: 'f', default: false, describe: 'Go on with what happens' },
      })
      .example('$0 calls --rpc "Node*" --pvc db/data-0', 'what the kubelet did with one claim')
      .example('$0 calls -f --json', 'one JSON object a line, as it happens'),
  run: async (args) => {
    const client = await connect(args);
    const query: CallsQuery = {
      ...(args.rpc && { rpc: args.rpc }),
      ...(args.volume !== undefined && { volume: args.volume }),
      ...(args.pvc !== undefined && { pvc: args.pvc }),
      ...(args.since !== undefined && { since: args.since }),
      ...(args.code && { code: args.code }),
      ...(args.fired !== undefined && { fired: args.fired }),
    };
    if (args.follow) return follow(client, query, args.json === true);
    const found = await client.calls({ ...query, ...(args.limit > 0 && { limit: args.limit }) });
    if (args.json) return printJson(found);
    if (found.length === 0) return print('no such call');
    const several = new Set(found.map(({ process }) => process)).size > 1;
    const head = several ? ['PROCESS', ...HEAD] : HEAD;
    print(
      table(
        head,
        found.map((call) => (several ? [call.process, ...row(call)] : row(call))),
      ),
    );
  },
};

const HEAD = ['CALL', 'TIME', 'METHOD', 'VOLUME', 'CODE', 'TOOK', 'RULES', 'MESSAGE'];
const SHOWN_MESSAGE = 100;

function row(call: Call): string[] {
  const { pvc } = call;
  const claim = pvc?.name === undefined ? undefined : `${pvc.namespace ?? ''}/${pvc.name}`;
  // The answer was sent to nobody: it looks like any other otherwise.
  const message = [call.abandoned ? '(client gone)' : '', call.message ?? '']
    .filter((part) => part !== '')
    .join(' ');
  return [
    `${call.call}`,
    call.at.slice(11, 23),
    call.method,
    claim ?? call.volumeId ?? '',
    call.code ?? (call.lost ? 'lost' : 'runs'),
    call.durationMs === undefined ? '' : `${Math.round(call.durationMs)}ms`,
    call.fired.join(' '),
    message.length > SHOWN_MESSAGE ? `${message.slice(0, SHOWN_MESSAGE)}…` : message,
  ];
}

async function follow(
  client: Awaited<ReturnType<typeof connect>>,
  query: CallsQuery,
  json: boolean,
): Promise<void> {
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  const { callLine } =
    require('../../scenarios/verdict/text') as typeof import('../../scenarios/verdict/text');
  for await (const change of client.followCalls(query, end.signal)) {
    if (json) print(JSON.stringify(change));
    else if (change.change !== 'received') print(callLine(change.call as never));
  }
}
