import { parse, stringify } from 'yaml';
import type { Problem } from '../../../scenarios/language';
import { parseDuration, parseRule, parseScenarioObject } from '../../../scenarios/language';
import { failed } from '../../../scenarios/language/parsed';
import { API_VERSION, KIND } from '../../../scenarios/language/schema/document';
import { AD_HOC_LABEL } from '../../../scenarios/library/library';
import { ControlError } from '../../error';
import type { Context } from '../context';
import type { Handlers } from '../exchange';
import { spread } from '../reach';
import { putText, refuseErrors, removeFile } from './scenarios';

/** As the language has it; only what this file touches. */
interface Document {
  [key: string]: unknown;
  metadata?: { [key: string]: unknown; name?: unknown; labels?: Record<string, unknown> };
  spec?: Record<string, unknown>;
}

const MAX_DEPTH = 64;

export const ruleHandlers = {
  rule: async ({ body: { rule, ttl, name } }, context) => {
    checkTtl(ttl);
    checkName(context, name);
    const { document, problems } =
      typeof rule === 'string'
        ? fromLine(rule, name ?? context.freshName(), ttl)
        : fromObject(rule, name, context.freshName(), ttl);
    refuseErrors(problems, 'not a rule');
    const text = stringify(labelled(document), { lineWidth: 0 });
    const own = String(document.metadata?.name);
    checkName(context, own);
    await putText(context, [own], text, 'rule');
    return { name: own, text, problems, ...(await spread(context)) };
  },

  removeRule: async ({ params: { name } }, context) => {
    context.driver.scenarios.find(name);
    if (!isAdHoc(context, name))
      throw new ControlError(
        'conflict',
        409,
        `${name} is a scenario of its own and no rule of POST /v1/rules; DELETE /v1/scenarios/${name} removes it`,
      );
    await removeFile(context, name);
    return spread(context);
  },
} satisfies Partial<Handlers>;

function isAdHoc({ driver: { scenarios } }: Context, name: string): boolean {
  return scenarios.list().some((one) => one.name === name && one.labels[AD_HOC_LABEL] === 'true');
}

/** A rule may take the place of one of that name, and of nothing else. */
function checkName(context: Context, name: string | undefined): void {
  const taken = context.driver.scenarios.list().some((one) => one.name === name);
  if (name === undefined || !taken || isAdHoc(context, name)) return;
  throw new ControlError(
    'conflict',
    409,
    `the name ${name} is that of a scenario which is no rule of POST /v1/rules; choose another name`,
  );
}

function checkTtl(ttl: string | undefined): void {
  const parsed = ttl === undefined ? undefined : parseDuration(ttl);
  if (!parsed || (!failed(parsed) && parsed.value > 0)) return;
  throw new ControlError(
    'invalid-request',
    400,
    `body.ttl: expected a duration such as 10m, found ${JSON.stringify(ttl)}`,
  );
}

interface Built {
  readonly document: Document;
  readonly problems: Problem[];
}

function fromLine(line: string, name: string, ttl: string | undefined): Built {
  const { text, problems } = parseRule(line, { name, ...(ttl !== undefined && { expires: ttl }) });
  return { document: (text === undefined ? {} : parse(text)) as Document, problems };
}

/** A whole scenario, or one rule of it. */
function fromObject(
  given: Record<string, unknown>,
  name: string | undefined,
  fresh: string,
  ttl: string | undefined,
): Built {
  checkDepth(given);
  const whole = 'kind' in given || 'spec' in given || 'apiVersion' in given;
  const scenario: Document = whole
    ? given
    : { apiVersion: API_VERSION, kind: KIND, spec: { rules: [{ name: 'rule', ...given }] } };
  const { metadata, spec } = scenario;
  const document: Document = {
    ...scenario,
    metadata: { ...(isMap(metadata) ? metadata : {}), name: name ?? metadata?.name ?? fresh },
    ...(isMap(spec) && { spec: { ...spec, ...(ttl !== undefined && { expires: ttl }) } }),
  };
  return { document, problems: parseScenarioObject(document, 'rule').problems };
}

function labelled(document: Document): Document {
  const { metadata } = document;
  return { ...document, metadata: { ...metadata, labels: { ...metadata?.labels, [AD_HOC_LABEL]: 'true' } } };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is read and written level by level, by recursion, must not be deeper than the stack. */
function checkDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new ControlError(
        'invalid-request',
        400,
        `body.rule: expected at most ${MAX_DEPTH} levels of maps and lists`,
      );
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
}
