import { createInterface } from 'node:readline';
import type { Asking, ReplyOf } from './api/route';
import type { RouteName, Routes } from './api/routes';
import { ask, askText, type ControlAddress } from './connection';

export type { ControlAddress } from './connection';
export { ControlError, type ControlErrorCode } from './error';
export { findControlSocket } from './find-socket';

/** What a route answers, by its name: `ControlReply<'status'>`. */
export type ControlReply<K extends RouteName> = ReplyOf<Routes[K]>;

export type CallsQuery = Omit<Asking<Routes['calls']>['query'], 'follow' | 'limit'> & {
  /** The newest so many. */
  limit?: number | undefined;
};
/** A rule in one line, or as an object of a scenario file. */
export type RuleText = Asking<Routes['rule']>['body']['rule'];

export interface VerifyOptions {
  /** Longest wait for what is pending, in milliseconds. */
  waitMs?: number | undefined;
  /** What came before does not count: `10m`, `mark:NAME`, … */
  since?: string | undefined;
  scenario?: string | undefined;
  /** What problems call the text. */
  file?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The control API of a driver, a method for each thing it does. Every one throws ControlError; replies are described in
 * docs/control.md and src/control/api/models.ts.
 */
export interface ControlClient {
  readonly address: ControlAddress;
  /** Of the process that answers; with `all`, of every process on its data folder. */
  status(options?: { all?: boolean }): Promise<ControlReply<'status'>>;
  doctor(): Promise<ControlReply<'doctor'>>;
  scenarios(): Promise<ControlReply<'scenarios'>>;
  scenario(name: string): Promise<ControlReply<'scenario'>>;
  /** Every scenario of the text. `file` is what problems call it. */
  putScenario(text: string, file?: string): Promise<ControlReply<'putScenarios'>>;
  removeScenario(name: string): Promise<ControlReply<'removeScenario'>>;
  validate(text: string, file?: string): Promise<ControlReply<'validate'>>;
  arm(name: string): Promise<ControlReply<'arm'>>;
  disarm(name: string): Promise<ControlReply<'disarm'>>;
  /** `ttl` is a duration such as `10m`. */
  rule(rule: RuleText, options?: { ttl?: string; name?: string }): Promise<ControlReply<'rule'>>;
  removeRule(name: string): Promise<ControlReply<'removeRule'>>;
  volumes(): Promise<ControlReply<'volumes'>['volumes']>;
  volume(id: string): Promise<ControlReply<'volume'>>;
  held(options?: { all?: boolean }): Promise<ControlReply<'held'>>;
  release(scenario?: string): Promise<ControlReply<'release'>>;
  /** In every process that has the scenario; `all: false`: in the one that answers. */
  setMachine(
    scenario: string,
    machine: string,
    state: string,
    options?: { all?: boolean },
  ): Promise<ControlReply<'setMachine'>>;
  calls(query?: CallsQuery): Promise<ControlReply<'calls'>['calls']>;
  /** From now on, or from `since`; ends when the signal aborts or the driver stops. */
  followCalls(query?: CallsQuery, signal?: AbortSignal): AsyncGenerator<CallChange, void, undefined>;
  mark(name: string): Promise<ControlReply<'mark'>>;
  explain(n: number, process?: string): Promise<ControlReply<'explain'>>;
  /** Undefined text: the expectations of `options.scenario` itself. */
  verify(text: string | undefined, options?: VerifyOptions): Promise<ControlReply<'verify'>>;
  /** `scenario`: that one alone. `mark`: sets it right after. */
  reset(options?: { scenario?: string; mark?: string }): Promise<ControlReply<'reset'>>;
  /** Looks at the scenario files at once. */
  refresh(options?: { all?: boolean }): Promise<ControlReply<'refresh'>>;
  /** Listens again after a rule closed the CSI socket. */
  openSocket(options?: { all?: boolean }): Promise<ControlReply<'openSocket'>>;
  /** In the text format of Prometheus. */
  metrics(): Promise<string>;
}

export interface CallChange {
  readonly change: 'received' | 'answered' | 'lost';
  readonly call: ControlReply<'calls'>['calls'][number];
}

export interface ControlClientOptions {
  /** Longest time without an answer, in milliseconds, where an answer does not wait for anything. Default 10 s. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/** Connects with the first request; a client holds no connection open in between. */
export function connectControl(address: ControlAddress, options: ControlClientOptions = {}): ControlClient {
  const { timeoutMs = TIMEOUT_MS } = options;
  const json = async <K extends RouteName>(
    _route: K,
    method: string,
    path: string,
    rest: { body?: unknown; signal?: AbortSignal | undefined; timeoutMs?: number | undefined } = {},
  ): Promise<ControlReply<K>> =>
    JSON.parse(await askText(address, { method, path, timeoutMs, ...rest })) as ControlReply<K>;
  const scenarioPath = (name: string, verb = '') => `/v1/scenarios/${encodeURIComponent(name)}${verb}`;
  return {
    address,
    status: ({ all } = {}) => json('status', 'GET', `/v1/status${query({ all })}`),
    doctor: () => json('doctor', 'GET', '/v1/probe'),
    scenarios: () => json('scenarios', 'GET', '/v1/scenarios'),
    scenario: (name) => json('scenario', 'GET', scenarioPath(name)),
    putScenario: (text, file) =>
      json('putScenarios', 'POST', `/v1/scenarios${query({ file })}`, { body: { text } }),
    removeScenario: (name) => json('removeScenario', 'DELETE', scenarioPath(name)),
    validate: (text, file) =>
      json('validate', 'POST', `/v1/scenarios:validate${query({ file })}`, { body: { text } }),
    arm: (name) => json('arm', 'POST', scenarioPath(name, ':arm')),
    disarm: (name) => json('disarm', 'POST', scenarioPath(name, ':disarm')),
    rule: (rule, { ttl, name } = {}) => json('rule', 'POST', '/v1/rules', { body: { rule, ttl, name } }),
    removeRule: (name) => json('removeRule', 'DELETE', `/v1/rules/${encodeURIComponent(name)}`),
    volumes: async () => (await json('volumes', 'GET', '/v1/volumes')).volumes,
    volume: (id) => json('volume', 'GET', `/v1/volumes/${encodeURIComponent(id)}`),
    held: ({ all } = {}) => json('held', 'GET', `/v1/held${query({ all })}`),
    release: (scenario) => json('release', 'POST', '/v1/release', { body: { scenario } }),
    setMachine: (scenario, machine, state, { all } = {}) =>
      json(
        'setMachine',
        'POST',
        `/v1/machines/${encodeURIComponent(scenario)}/${encodeURIComponent(machine)}:set${query({ all })}`,
        { body: { state } },
      ),
    // A journal may be long, and is read from disk.
    calls: async (asked = {}) =>
      (await json('calls', 'GET', `/v1/journal${query(asked)}`, { timeoutMs: undefined })).calls,
    followCalls: (asked, signal) => follow(address, asked, signal),
    mark: (name) => json('mark', 'POST', '/v1/journal:mark', { body: { name } }),
    explain: (n, process) =>
      json('explain', 'GET', `/v1/calls/${n}:explain${query({ process })}`, { timeoutMs: undefined }),
    verify: (text, { waitMs, signal, ...rest } = {}) =>
      json(
        'verify',
        'POST',
        `/v1/verify${query({ ...rest, wait: waitMs === undefined ? undefined : `${Math.round(waitMs)}ms` })}`,
        { body: { text }, signal, timeoutMs: undefined },
      ),
    reset: (what = {}) => json('reset', 'POST', '/v1/reset', { body: what }),
    refresh: ({ all } = {}) => json('refresh', 'POST', `/v1/scenarios:refresh${query({ all })}`),
    openSocket: ({ all } = {}) => json('openSocket', 'POST', `/v1/socket:open${query({ all })}`),
    metrics: () => askText(address, { method: 'GET', path: '/metrics', accept: 'text/plain', timeoutMs }),
  };
}

async function* follow(
  address: ControlAddress,
  asked: CallsQuery = {},
  signal?: AbortSignal,
): AsyncGenerator<CallChange, void, undefined> {
  const left = () => signal?.aborted === true;
  if (left()) return;
  try {
    const answer = await ask(address, {
      method: 'GET',
      path: `/v1/journal${query({ ...asked, follow: true })}`,
      accept: 'application/x-ndjson',
      signal,
    });
    try {
      for await (const line of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY }))
        if (line !== '') yield JSON.parse(line) as CallChange;
    } finally {
      answer.destroy();
    }
  } catch (error) {
    if (!left()) throw error;
  }
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

function query(values: Readonly<Record<string, QueryValue>>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (typeof value === 'boolean') params.set(key, value ? '1' : '0');
    else for (const one of Array.isArray(value) ? value : [value]) params.append(key, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
