import { stringify } from 'yaml';
import type { CallSelector, CountTest, Expectation, ExpectationTest } from '../../model';
import { parseCount } from '../numbers';
import { failed } from '../parsed';
import type { Path } from '../positions';
import type { Report } from '../report';
import type { ExpectationInput, SelectorInput } from '../schema/expect';
import { buildPod, buildVolume, methodsLeft, present } from './match';

const MAX_SOURCE = 300;

/** Of the ratio of two gaps: kubelet and sidecars both add their own reaction time to a backoff. */
const DEFAULT_TOLERANCE = 0.5;

export function buildExpectation(
  input: ExpectationInput,
  written: unknown,
  report: Report,
  path: Path,
): Expectation {
  const optional = (input.value as { optional?: boolean }).optional ?? false;
  return {
    source: oneLine(written),
    at: report.locator.value(path),
    optional,
    ...testOf(input, report, path),
  };
}

function testOf(input: ExpectationInput, report: Report, path: Path): ExpectationTest {
  switch (input.kind) {
    case 'count': {
      const { count, within } = input.value;
      return {
        kind: 'count',
        calls: selectorOf(input.value),
        count,
        withinMs: within,
        since: sinceOf(input.value, report, path),
      };
    }
    case 'never': {
      const { never, for: length, until } = input.value;
      return {
        kind: 'never',
        calls: selectorOf(join(never, input.value, report, path)),
        forMs: length,
        until: until && selectorOf(until),
        since: sinceOf(input.value, report, path),
      };
    }
    case 'order':
      return { kind: 'order', calls: input.value.order.map(selectorOf) };
    case 'gap': {
      const { ratio, tolerance = DEFAULT_TOLERANCE, min, max } = input.value.gap;
      if (ratio === undefined && min === undefined && max === undefined)
        report.errorAtKey([...path, 'gap'], 'expected one of ratio, min and max');
      return { kind: 'gap', calls: selectorOf(input.value.gap), ratio, tolerance, minMs: min, maxMs: max };
    }
    case 'overlap':
      return { kind: 'overlap', calls: selectorOf(input.value) };
    case 'idempotent':
      return {
        kind: 'idempotent',
        calls: selectorOf(join(input.value.idempotent, input.value, report, path)),
      };
    case 'eventually':
      return eventually(input.value);
    case 'leak': {
      const { loops, mounts, frozen } = input.value.leak;
      if (loops === undefined && mounts === undefined && frozen === undefined)
        report.errorAtKey([...path, 'leak'], 'expected one of loops, mounts and frozen');
      return { kind: 'leak', loops, mounts, frozen };
    }
    case 'fired': {
      const { rule, times = atLeastOnce() } = input.value.fired;
      return { kind: 'fired', rule, times };
    }
    case 'event':
    case 'podCondition':
      return { kind: 'unavailable', why: `needs a cluster: ${input.kind} asks the API server` };
    case 'probe':
      return { kind: 'unavailable', why: 'needs a cluster: probe runs in a pod' };
  }
}

function eventually({
  eventually: { volume, state, writable, registration, fault },
  within,
}: (ExpectationInput & { kind: 'eventually' })['value']): ExpectationTest {
  if (registration !== undefined) return { kind: 'registration', state: registration, withinMs: within };
  if (fault !== undefined || state === 'healed' || state === 'active')
    return { kind: 'unavailable', why: 'needs live faults, which are not available in this version' };
  if (writable !== undefined) return { kind: 'unavailable', why: 'needs a cluster: writable asks in a pod' };
  return { kind: 'eventually', volume: volume && buildVolume(volume), state, withinMs: within };
}

function atLeastOnce(): CountTest {
  const parsed = parseCount('>=1');
  if (failed(parsed)) throw new Error(parsed.message);
  return parsed.value;
}

function selectorOf(input: SelectorInput): CallSelector {
  const { rpc, service, node, volume, pod, code, message, fired } = input;
  return {
    methods: methodsLeft(rpc, service),
    service,
    ...present({
      node,
      volume: volume && buildVolume(volume),
      pod: pod && buildPod(pod),
      code,
      message,
      fired,
    }),
  } as CallSelector;
}

/** `{never: NodeStageVolume, volume: …}`: keys beside the selector belong to it. */
function join(selector: SelectorInput, beside: SelectorInput, report: Report, path: Path): SelectorInput {
  const keys = ['rpc', 'service', 'node', 'volume', 'pod', 'code', 'message', 'fired'] as const;
  const joined: SelectorInput = { ...selector };
  for (const key of keys) {
    if (beside[key] === undefined) continue;
    if (joined[key] !== undefined) report.errorAtKey([...path, key], `${key} is said twice`);
    Object.assign(joined, { [key]: beside[key] });
  }
  return joined;
}

function sinceOf(
  { since, after }: { since?: string | undefined; after?: string | undefined },
  report: Report,
  path: Path,
): string | undefined {
  if (since !== undefined && after !== undefined)
    report.errorAtKey([...path, 'after'], 'since and after mean the same: write one of them');
  return since ?? after;
}

function oneLine(written: unknown): string {
  const text = stringify(written, {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_SOURCE ? `${line.slice(0, MAX_SOURCE)}…` : line;
}
