import type { CallQuery } from '../../../journal/query';
import { parseMoment } from '../../../journal/query';
import type { FollowedCall } from '../../../journal/timeline';
import { explain, explanationText } from '../../../scenarios/verdict/explain';
import type { Asked } from '../../api/route';
import type { Routes } from '../../api/routes';
import { ControlError } from '../../error';
import type { Context } from '../context';
import { type Handlers, StreamReply, TextReply } from '../exchange';

const DEFAULT_LIMIT = 1_000;

export const callHandlers = {
  calls: async ({ query }, context, { accept }) => {
    const asked = queryOf(query, context);
    if (query.follow !== true)
      return { calls: await context.timeline.calls({ ...asked, limit: query.limit ?? DEFAULT_LIMIT }) };
    if (query.limit !== undefined)
      throw new ControlError(
        'invalid-request',
        400,
        'query.limit: expected none together with follow=1, which has no end',
      );
    return follow(asked, context, /\btext\/event-stream\b/i.test(accept));
  },

  mark: ({ body: { name } }, { driver: { journal, processName } }) => {
    const { seq, at } = journal.append({ type: 'event', event: 'mark', details: { name } });
    return { name, process: processName, seq, at };
  },

  explain: async ({ params: { n }, query: { process, format } }, { timeline }) => {
    const explanation = await explain(timeline, n, process);
    return format === 'text' ? new TextReply('text/plain', explanationText(explanation)) : explanation;
  },
} satisfies Partial<Handlers>;

function queryOf(query: Asked<Routes['calls']>['query'], { driver }: Context): CallQuery {
  const now = driver.env.clock.now();
  const { rpc, code, volume, pvc, fired, since, until } = query;
  return {
    ...(rpc && rpc.length > 0 && { rpc }),
    ...(code && code.length > 0 && { code }),
    ...(volume !== undefined && { volume }),
    ...(pvc !== undefined && { pvc }),
    ...(fired !== undefined && { fired }),
    ...(since !== undefined && { since: parseMoment(since, now) }),
    ...(until !== undefined && { until: parseMoment(until, now) }),
  };
}

function follow(query: CallQuery, { timeline }: Context, events: boolean): StreamReply {
  const show = events ? asEvent : asLine;
  return new StreamReply(
    events ? 'text/event-stream' : 'application/x-ndjson',
    async function* (open, signal) {
      for await (const change of timeline.followCalls(query, { signal, onCurrent: open })) yield show(change);
    },
    events ? ':\n\n' : '\n',
  );
}

function asLine({ change, call }: FollowedCall): string {
  return `${JSON.stringify({ change, call })}\n`;
}

function asEvent({ change, call }: FollowedCall): string {
  const seq = change === 'received' ? call.seq : (call.endedSeq ?? call.seq);
  return `id: ${call.process}/${seq}\nevent: ${change}\ndata: ${JSON.stringify({ change, call })}\n\n`;
}
