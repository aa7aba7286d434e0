import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import type { Problem } from '../../../scenarios/language';
import type { ScenarioSummary } from '../../../scenarios/library/library';
import { ControlError } from '../../error';
import type { Context } from '../context';
import type { Handlers } from '../exchange';
import { everywhere, type Reached, spread } from '../reach';

const DEFAULT_FILE = 'scenario.yaml';

export const scenarioHandlers = {
  scenarios: (_, { driver: { scenarios } }) => ({
    scenarios: scenarios.list(),
    problems: scenarios.problems(),
  }),

  scenario: ({ params: { name } }, { driver: { scenarios } }) => {
    const { file } = scenarios.find(name);
    return { scenario: summaryOf(scenarios.list(), name), text: readFileSync(file, 'utf8') };
  },

  putScenarios: ({ query: { file = DEFAULT_FILE }, body: { text } }, context) =>
    put(context, text, file, () => undefined),

  putScenario: ({ params: { name }, query: { file = DEFAULT_FILE }, body: { text } }, context) =>
    put(context, text, file, (names) => {
      if (names.length !== 1 || names[0] !== name)
        throw new ControlError(
          'invalid-request',
          400,
          `expected one scenario named ${name}, found ${names.join(', ')}; POST /v1/scenarios takes several, by their own names`,
        );
    }),

  removeScenario: async ({ params: { name } }, context) => {
    await removeFile(context, name);
    return spread(context);
  },

  validate: ({ query: { file = DEFAULT_FILE }, body: { text } }) => {
    const { scenarios, problems } = language().parseScenarios(text, file);
    return {
      valid: !hasErrors(problems),
      scenarios: scenarios.map(({ name }) => name),
      problems,
    };
  },

  refresh: ({ query: { all = true } }, context) => {
    context.driver.scenarios.refresh();
    return everywhere(context, all, (peer) => peer.refresh({ all: false }));
  },

  arm: async ({ params: { name } }, context) => {
    await context.driver.scenarios.arm(name);
    return spread(context);
  },

  disarm: async ({ params: { name } }, context) => {
    await context.driver.scenarios.disarm(name);
    return spread(context);
  },

  resetScenario: async ({ params: { name } }, context) => {
    await context.driver.reset(name);
    return spread(context);
  },
} satisfies Partial<Handlers>;

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

/** @throws ControlError 422 with every problem. */
export function refuseErrors(problems: readonly Problem[], what: string): void {
  if (!hasErrors(problems)) return;
  const [first, ...rest] = problems.filter(({ severity }) => severity === 'error');
  const { file, line, column, path: place, message } = first as Problem;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  throw new ControlError(
    'invalid-scenario',
    422,
    `${what}: ${file}:${line}:${column}: ${place === '' ? '' : `${place}: `}${message}${more}`,
    problems,
  );
}

function summaryOf(all: readonly ScenarioSummary[], name: string): ScenarioSummary {
  const found = all.find((one) => one.name === name);
  if (!found)
    throw new ControlError(
      'conflict',
      409,
      `scenario ${name} is in a file and not loaded; GET /v1/scenarios says what is wrong`,
    );
  return found;
}

async function put(
  context: Context,
  text: string,
  file: string,
  check: (names: readonly string[]) => void,
): Promise<Reached & { names: string[]; problems: Problem[] }> {
  const { scenarios, problems } = language().parseScenarios(text, file);
  refuseErrors(problems, 'not a scenario');
  const names = scenarios.map(({ name }) => name);
  check(names);
  await putText(context, names, text, file);
  return { names, problems, ...(await spread(context)) };
}

/** @throws ControlError 409 when another file already says what a name means. */
export async function putText(
  { driver: { scenarios, env } }: Context,
  names: readonly string[],
  text: string,
  file: string,
): Promise<void> {
  // By the name a file of its own would have: what another file says under it would go on acting.
  for (const { name, file: there } of scenarios.list())
    if (names.includes(name) && there !== '' && there !== path.join(env.layout.scenarios, `${name}.yaml`))
      throw new ControlError(
        'conflict',
        409,
        `scenario ${name} comes from ${there}; change it there, or choose another name`,
      );
  await scenarios.put(text, file);
}

/** @throws ControlError 409 when its file is not the API's to remove. */
export async function removeFile({ driver: { scenarios } }: Context, name: string): Promise<void> {
  const { file, shared, scenarios: inside } = scenarios.find(name);
  const others = inside.map((one) => one.name).filter((one) => one !== name);
  if (!shared)
    throw new ControlError(
      'conflict',
      409,
      `scenario ${name} comes from ${file}, which a process was started with; disarm it instead`,
    );
  if (others.length > 0)
    throw new ControlError(
      'conflict',
      409,
      `scenario ${name} stands in ${file} together with ${others.join(', ')}; change the file, or disarm it instead`,
    );
  await scenarios.remove(name);
}

/** Loaded when a text is to be read: it takes a while. */
function language(): typeof import('../../../scenarios/language') {
  return require('../../../scenarios/language') as typeof import('../../../scenarios/language');
}
