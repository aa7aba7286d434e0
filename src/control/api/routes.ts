import { z } from 'zod';
import * as models from './models';
import type { Route } from './route';
import { flag, list } from './schema';

const name = z.strictObject({ name: z.string() });
const others = (word: string) => z.strictObject({ all: flag.optional().describe(word) });
const file = z.string().optional().describe('What problems call the text');

const JUNIT = { type: 'application/xml', about: 'format=junit' };
const TEXT = { type: 'text/plain', about: 'format=text' };
const PROMETHEUS = { type: 'text/plain', about: 'Prometheus text format 0.0.4' };

/** Every route, by the name that the typed client and the OpenAPI document have for it. */
export const routes = {
  status: {
    method: 'GET',
    path: '/v1/status',
    summary: 'What this process, or with all=1 every process on the data folder, is and does',
    query: others('Ask the other processes too'),
    reply: models.StatusReply,
  },
  doctor: {
    method: 'GET',
    path: '/v1/probe',
    summary: 'What is possible on this machine, each with why not, and what was left behind',
    reply: models.ProbeReply,
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Prometheus metrics of this process',
    formats: [PROMETHEUS],
  },
  metricsV1: {
    method: 'GET',
    path: '/v1/metrics',
    summary: 'The same as /metrics',
    formats: [PROMETHEUS],
  },
  scenarios: {
    method: 'GET',
    path: '/v1/scenarios',
    summary: 'Every loaded scenario, and what is wrong with files',
    reply: models.ScenariosReply,
  },
  putScenarios: {
    method: 'POST',
    path: '/v1/scenarios',
    summary: 'Put every scenario of a text into the data folder, in place of those of the same names',
    query: z.strictObject({ file }),
    body: models.ScenarioText,
    yaml: true,
    reply: models.PutReply,
    problems: [422],
  },
  scenario: {
    method: 'GET',
    path: '/v1/scenarios/{name}',
    summary: 'One scenario and its text',
    params: name,
    reply: models.ScenarioReply,
    problems: [404],
  },
  putScenario: {
    method: 'PUT',
    path: '/v1/scenarios/{name}',
    summary: 'Put one scenario of this name into the data folder',
    params: name,
    query: z.strictObject({ file }),
    body: models.ScenarioText,
    yaml: true,
    reply: models.PutReply,
    problems: [422],
  },
  removeScenario: {
    method: 'DELETE',
    path: '/v1/scenarios/{name}',
    summary: 'Remove a scenario from the data folder; what it holds is let go of',
    params: name,
    reply: models.Reach,
    problems: [404, 409],
  },
  validate: {
    method: 'POST',
    path: '/v1/scenarios:validate',
    summary: 'Say what is wrong with a text; nothing is changed',
    query: z.strictObject({ file }),
    body: models.ScenarioText,
    yaml: true,
    reply: models.ValidateReply,
  },
  refresh: {
    method: 'POST',
    path: '/v1/scenarios:refresh',
    summary: 'Look at the scenario files at once instead of soon',
    query: others('The other processes too [1]'),
    reply: models.Reach,
  },
  arm: {
    method: 'POST',
    path: '/v1/scenarios/{name}:arm',
    summary: 'Arm a scenario from now on, in every process',
    params: name,
    reply: models.Reach,
    problems: [404],
  },
  disarm: {
    method: 'POST',
    path: '/v1/scenarios/{name}:disarm',
    summary: 'A scenario acts no more and lets go of what it holds, in every process',
    params: name,
    reply: models.Reach,
    problems: [404],
  },
  resetScenario: {
    method: 'POST',
    path: '/v1/scenarios/{name}:reset',
    summary: 'A scenario lets go of what it holds and counts from nothing, in every process',
    params: name,
    reply: models.Reach,
    problems: [404],
  },
  rule: {
    method: 'POST',
    path: '/v1/rules',
    summary: 'Arm a rule at once: one line of text, or an object as in a scenario file',
    body: models.RuleRequest,
    reply: models.RuleReply,
    problems: [409, 422],
  },
  removeRule: {
    method: 'DELETE',
    path: '/v1/rules/{name}',
    summary: 'Remove what POST /v1/rules made',
    params: name,
    reply: models.Reach,
    problems: [404, 409],
  },
  volumes: {
    method: 'GET',
    path: '/v1/volumes',
    summary: 'Every volume in the data folder, in the order of creation',
    reply: models.VolumesReply,
  },
  volume: {
    method: 'GET',
    path: '/v1/volumes/{id}',
    summary: 'One volume',
    params: z.strictObject({ id: z.string() }),
    reply: models.Volume,
    problems: [404],
  },
  held: {
    method: 'GET',
    path: '/v1/held',
    summary: 'Calls that wait because a rule says so, in every process',
    query: others('The other processes too [1]'),
    reply: models.HeldReply,
  },
  release: {
    method: 'POST',
    path: '/v1/release',
    summary: 'Let go of hung calls, in every process; delays run on',
    body: models.ReleaseRequest,
    bodyOptional: true,
    reply: models.ReleaseReply,
    problems: [404],
  },
  setMachine: {
    method: 'POST',
    path: '/v1/machines/{scenario}/{machine}:set',
    summary: 'Set the state of a machine, in every process that has it',
    params: z.strictObject({ scenario: z.string(), machine: z.string() }),
    query: others('The other processes too [1]'),
    body: models.MachineRequest,
    reply: models.Reach,
    problems: [404, 422],
  },
  calls: {
    method: 'GET',
    path: '/v1/journal',
    summary: 'Calls of all processes in the order of their arrival; with follow=1 as they arrive and end',
    query: z.strictObject({
      rpc: list.optional().describe('Globs of methods'),
      volume: z.string().optional().describe('A glob of volume ids'),
      pvc: z.string().optional().describe('Globs: name, or namespace/name'),
      since: z.string().optional().describe('10m, an ISO time, #SEQ, mark, mark:NAME'),
      until: z.string().optional().describe('As since'),
      code: list.optional().describe('Globs of codes, OK among them'),
      fired: z.string().optional().describe('A glob of scenario/rule, or of rule'),
      limit: z.coerce.number().int().min(1).max(100_000).optional().describe('The newest so many [1000]'),
      follow: flag.optional(),
    }),
    reply: models.CallsReply,
    formats: [
      { type: 'application/x-ndjson', about: 'follow=1: one CallChange a line' },
      {
        type: 'text/event-stream',
        about: 'follow=1 and an Accept header that says so: one CallChange an event',
      },
    ],
    problems: [404],
  },
  mark: {
    method: 'POST',
    path: '/v1/journal:mark',
    summary: 'Set a mark in the journal, for since=mark:NAME',
    body: models.MarkRequest,
    reply: models.MarkReply,
  },
  explain: {
    method: 'GET',
    path: '/v1/calls/{n}:explain',
    summary: 'Why rules fired for a call, or did not: the near misses',
    params: z.strictObject({ n: z.coerce.number().int().min(1) }),
    query: z.strictObject({
      process: z.string().optional().describe('Where several have a call of that number'),
      format: z.enum(['json', 'text']).optional(),
    }),
    reply: models.CallExplanation,
    formats: [TEXT],
    problems: [404],
  },
  verify: {
    method: 'POST',
    path: '/v1/verify',
    summary: 'The verdict on expectations, over the journal of all processes',
    query: z.strictObject({
      wait: z.string().optional().describe('Longest wait for what is pending, such as 30s [0s]'),
      since: z.string().optional().describe('What came before does not count: 10m, mark:NAME, …'),
      scenario: z
        .string()
        .optional()
        .describe('Counts from its arming; without a body, its own expectations'),
      file,
      format: z.enum(['json', 'junit', 'text']).optional(),
    }),
    body: z.strictObject({ text: z.string().optional().describe('YAML') }),
    yaml: true,
    bodyOptional: true,
    reply: models.VerdictReply,
    formats: [JUNIT, TEXT],
    problems: [404, 422],
  },
  reset: {
    method: 'POST',
    path: '/v1/reset',
    summary: 'Let go of every call, heal, count from nothing, in every process; also while calls hang',
    body: models.ResetRequest,
    bodyOptional: true,
    reply: models.Reach,
    problems: [404],
  },
  openSocket: {
    method: 'POST',
    path: '/v1/socket:open',
    summary: 'Listen again after a rule closed the CSI socket',
    query: others('The other processes too [1]'),
    reply: models.Reach,
  },
  openApi: {
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'This description',
    reply: models.OpenApiReply,
  },
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
