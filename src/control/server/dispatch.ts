import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { Code, CsiError } from '../../csi/status';
import { ScenarioProblems } from '../../scenarios/library/library';
import type { Asked, Route } from '../api/route';
import { type RouteName, type Routes, routes } from '../api/routes';
import { ControlError } from '../error';
import { parseBody, readBody } from './body';
import type { Context } from './context';
import { StreamReply, TextReply } from './exchange';
import { handlers } from './handlers';
import { Router } from './match';
import { sendJson, sendStream, sendText } from './reply';

export interface DispatchOptions {
  /** Reads every reply with its schema: for tests, which so find what the API's description lacks. */
  readonly checkReplies: boolean;
  readonly bodyMs: number;
  readonly heartbeatMs: number;
}

/** Answers requests that have been let in. */
export class Dispatcher {
  private readonly router = new Router();

  constructor(
    private readonly context: Context,
    private readonly options: DispatchOptions,
  ) {}

  /** @throws ControlError, and whatever a handler throws, before anything is sent. */
  async answer(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { url = '/', method = 'GET', headers } = request;
    const { path, search } = split(url);
    const { name, params } = this.router.match(method, path);
    const route: Route = routes[name];
    const text = await readBody(request, this.options.bodyMs);
    const asked = {
      params: read(route.params, params, 'path'),
      query: read(route.query, queryOf(search), 'query'),
      body: route.body
        ? read(
            route.body,
            parseBody(text, headers['content-type'], {
              yaml: route.yaml === true,
              optional: route.bodyOptional === true,
            }),
            'body',
          )
        : {},
    };
    const exchange = { accept: headers.accept ?? '', signal };
    const reply = await this.handle(name, asked, exchange);
    if (reply instanceof StreamReply) return sendStream(response, reply, signal, this.options.heartbeatMs);
    if (reply instanceof TextReply) return sendText(response, reply);
    if (this.options.checkReplies && route.reply) route.reply.parse(JSON.parse(JSON.stringify(reply)));
    sendJson(response, 200, reply);
  }

  private handle<K extends RouteName>(
    name: K,
    asked: unknown,
    exchange: { accept: string; signal: AbortSignal },
  ) {
    const handler = handlers[name];
    return handler(asked as Asked<Routes[K]>, this.context, exchange);
  }
}

function split(url: string): { path: string; search: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark) };
}

function queryOf(search: string): Record<string, string | string[]> {
  const params = new URLSearchParams(search);
  const keys = new Set(params.keys());
  return Object.fromEntries(
    [...keys].map((key) => {
      const all = params.getAll(key);
      return [key, all.length === 1 ? (all[0] ?? '') : all];
    }),
  );
}

/** Values as a schema has them; what has no schema may not be given. */
function read(schema: z.ZodType | undefined, value: unknown, place: 'path' | 'query' | 'body'): unknown {
  if (!schema) {
    const [key] = Object.keys(value as object);
    if (key === undefined) return {};
    throw new ControlError('invalid-request', 400, `${place}.${key}: expected none for this route`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const sentences = result.error.issues.map(
    (issue) => `${[place, ...issue.path.map(String)].join('.')}: ${sentence(issue, schema)}`,
  );
  throw new ControlError('invalid-request', 400, sentences.join('; '));
}

function sentence(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  if (issue.code === 'unrecognized_keys') {
    const known = 'shape' in schema ? Object.keys(schema.shape as object) : [];
    return `unknown ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; there are ${known.join(', ')}`;
  }
  return issue.message.replace(/^Invalid input: /, '').replace(', received ', ', found ');
}

/** What went wrong, as a problem to send. */
export function problemOf(error: unknown, aborted: boolean): ControlError {
  if (error instanceof ControlError) return error;
  if (error instanceof ScenarioProblems)
    return new ControlError('invalid-scenario', 422, error.message, error.problems);
  if (error instanceof CsiError && error.code === Code.NOT_FOUND)
    return new ControlError('not-found', 404, error.message);
  if (error instanceof CsiError && error.code === Code.INVALID_ARGUMENT)
    return new ControlError('invalid-request', 400, error.message);
  if (aborted) return new ControlError('unavailable', 503, 'the driver is stopping');
  const message = error instanceof Error ? error.message : String(error);
  return new ControlError('internal', 500, message);
}
