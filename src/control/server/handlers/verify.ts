import { parseMoment } from '../../../journal/query';
import { parseDuration, parseExpectations, parseScenarios } from '../../../scenarios/language';
import { failed } from '../../../scenarios/language/parsed';
import type { Expectation } from '../../../scenarios/model';
import { junitXml } from '../../../scenarios/verdict/junit';
import { verdictText } from '../../../scenarios/verdict/text';
import { type Verdict, verify } from '../../../scenarios/verdict/verify';
import type { WorldView, WorldVolume } from '../../../scenarios/verdict/world';
import { leaksOf, type VolumeView, volumeViews } from '../../../server/inspect';
import type { Env } from '../../../services/env';
import type { ReplyOf } from '../../api/route';
import type { Routes } from '../../api/routes';
import { ControlError } from '../../error';
import type { Context } from '../context';
import { type Handlers, TextReply } from '../exchange';
import { refuseErrors } from './scenarios';

const DEFAULT_FILE = 'expectations.yaml';

export const verifyHandlers = {
  verify: async ({ query, body: { text } }, context, { signal }) => {
    const { wait = '0s', since, scenario: named, file = DEFAULT_FILE, format } = query;
    const { env } = context.driver;
    const waitMs = parseDuration(wait);
    if (failed(waitMs)) throw new ControlError('invalid-request', 400, `query.wait: ${waitMs.message}`);
    const scenario = named ?? onlyScenario(context, text, file);
    const verdict = await verify({
      expectations: expectationsOf(context, text, file, named),
      timeline: context.timeline,
      world: worldOf(env),
      waitMs: waitMs.value,
      clock: env.clock,
      signal,
      scenario,
      ...(since !== undefined && { since: parseMoment(since, env.clock.now()) }),
    });
    const junit = junitXml(scenario ?? file, verdict, new Date(env.clock.now()).toISOString());
    const headers = { 'fake-csi-verdict': verdict.passed ? 'passed' : 'failed' };
    if (format === 'junit') return new TextReply('application/xml', junit, headers);
    if (format === 'text') return new TextReply('text/plain', verdictText(verdict), headers);
    return replyOf(verdict, junit);
  },
} satisfies Partial<Handlers>;

function expectationsOf(
  { driver: { engine, scenarios } }: Context,
  text: string | undefined,
  file: string,
  scenario: string | undefined,
): readonly Expectation[] {
  if (text !== undefined) {
    const { expectations, problems } = parseExpectations(text, file);
    refuseErrors(problems, 'not expectations');
    return expectations;
  }
  if (scenario === undefined)
    throw new ControlError(
      'invalid-request',
      400,
      'expected expectations in YAML in the body, or ?scenario=NAME for those of a scenario; found neither',
    );
  scenarios.find(scenario);
  const own = engine.scenario(scenario)?.expect ?? [];
  if (own.length > 0) return own;
  throw new ControlError(
    'invalid-request',
    400,
    `scenario ${scenario} expects nothing: it has no spec.expect; send expectations in the body`,
  );
}

/** A text of one scenario that is loaded counts from that one's arming. */
function onlyScenario(
  { driver: { engine } }: Context,
  text: string | undefined,
  file: string,
): string | undefined {
  if (text === undefined) return undefined;
  const { scenarios } = parseScenarios(text, file);
  const [only, ...others] = scenarios;
  return others.length === 0 && only && engine.scenario(only.name) ? only.name : undefined;
}

function worldOf(env: Env): WorldView {
  return {
    volumes: () => volumeViews(env).map(worldVolume),
    leaks: async () => {
      const { loops, mounts, frozen } = await leaksOf(env);
      return { loops: loops.length, mounts: mounts.length, frozen: frozen.length };
    },
  };
}

function worldVolume(view: VolumeView): WorldVolume {
  const { id, name, state, pvc, storageClass, parameters, attributes, accessTypes, capacityBytes } = view;
  return {
    id,
    name,
    state,
    ...(pvc && { pvc }),
    ...(storageClass !== undefined && { storageClass }),
    parameters,
    attributes,
    ...(view.fsType !== '' && { fsType: view.fsType }),
    block: accessTypes.includes('block'),
    capacityBytes: BigInt(capacityBytes),
  };
}

function replyOf(verdict: Verdict, junit: string): ReplyOf<Routes['verify']> {
  const { passed, durationMs, results } = verdict;
  return {
    passed,
    durationMs,
    results: results.map(({ expectation: { source, kind, optional, at }, evidence, ...result }) => ({
      // What it is made of has functions in it.
      expectation: { source, kind, optional, at: { line: at.line, column: at.column } },
      ...result,
      evidence: [...evidence],
    })),
    text: verdictText(verdict),
    junit,
  };
}
