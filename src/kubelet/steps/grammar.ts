import { isMethod } from '../../csi/rpcs';
import { Code } from '../../csi/status';
import { parseQuantity } from '../../util/quantity';

export type Comparison = '>=' | '<=' | '=';

/** What may be waited for or asserted. */
export type Condition =
  | { readonly kind: 'running' | 'gone'; readonly pods: readonly string[] }
  /** No pod, no volume that a kubelet knows, no VolumeAttachment. */
  | { readonly kind: 'clean' }
  | { readonly kind: 'event'; readonly reason: string; readonly object: string | undefined }
  | { readonly kind: 'state'; readonly subject: string; readonly state: StateWord }
  | {
      readonly kind: 'calls';
      readonly method: string;
      readonly code: string | undefined;
      readonly comparison: Comparison;
      readonly count: number;
    }
  | { readonly kind: 'not'; readonly condition: Condition };

export const STATE_WORDS = [
  'bound',
  'attached',
  'detached',
  'in-use',
  'not-in-use',
  'staged',
  'stage-uncertain',
  'not-staged',
  'mounted',
  'mount-uncertain',
  'not-mounted',
  'forgotten',
  'deleted',
] as const;
export type StateWord = (typeof STATE_WORDS)[number];

export type StepAction =
  | { readonly kind: 'create'; readonly names: readonly string[] }
  | { readonly kind: 'delete'; readonly names: readonly string[] }
  /** kubectl delete --force: the object goes at once, whatever its node does. */
  | { readonly kind: 'force-delete'; readonly names: readonly string[] }
  | { readonly kind: 'expand'; readonly claim: string; readonly bytes: bigint }
  | { readonly kind: 'wait'; readonly condition: Condition; readonly withinMs: number | undefined }
  | { readonly kind: 'assert'; readonly condition: Condition }
  | { readonly kind: 'advance'; readonly ms: number }
  | {
      readonly kind: 'kubelet';
      readonly act: 'stop' | 'start' | 'restart';
      readonly node: string | undefined;
    }
  | { readonly kind: 'driver'; readonly act: 'kill' | 'start' | 'restart'; readonly node: string | undefined }
  | { readonly kind: 'node'; readonly act: 'reboot' | 'down' | 'up'; readonly node: string | undefined }
  /** The API server's process: for everybody, users too. */
  | { readonly kind: 'api'; readonly act: 'stop' | 'start' }
  | { readonly kind: 'taint'; readonly outOfService: boolean; readonly node: string | undefined }
  /** The registration socket goes, or comes back. */
  | { readonly kind: 'plugin'; readonly act: 'unregister' | 'register'; readonly node: string | undefined }
  | { readonly kind: 'vol-data'; readonly act: 'remove' | 'empty' | 'corrupt'; readonly pod: string };

export type Step = StepAction & { readonly text: string };

/** Usage of each step: the grammar as people read it. */
export const USAGE: Readonly<Record<StepAction['kind'], string>> = {
  create: 'create [name …]',
  delete: 'delete [pod | pvc/claim …]',
  'force-delete': 'force-delete <pod …>',
  expand: 'expand <claim> <size>',
  wait: 'wait <condition> [within <duration>]',
  assert: 'assert <condition>',
  advance: 'advance <duration>',
  kubelet: 'kubelet stop|start|restart [node]',
  driver: 'driver kill|start|restart [node]',
  node: 'node reboot|down|up [node]',
  api: 'api stop|start',
  taint: 'taint out-of-service [node] (and: taint none [node])',
  plugin: 'plugin unregister|register [node]',
  'vol-data': 'vol-data remove|empty|corrupt <pod>',
};

const CONDITIONS =
  'running [pod …], gone [pod …], clean, event <Reason> [object], state <claim> <word>, calls <Method> [CODE] [>=N], not <condition>';

/** @throws Error with the step, what was expected and what was found */
export function parseSteps(text: string): Step[] {
  const parts = text
    .split(/[;\n]/)
    .map((part) => part.replace(/#.*$/, '').trim())
    .filter((part) => part !== '');
  if (parts.length === 0) throw new Error('--steps: expected at least one step, found nothing');
  return parts.map((part) => {
    const words = part.split(/\s+/);
    return { ...parseAction(part, words), text: part };
  });
}

function parseAction(text: string, [verb = '', ...words]: readonly string[]): StepAction {
  switch (verb) {
    case 'create':
    case 'delete':
      return { kind: verb, names: words };
    case 'force-delete':
      if (words.length === 0) throw wrong(text, USAGE['force-delete']);
      return { kind: verb, names: words };
    case 'expand': {
      const [claim, size = ''] = words;
      const bytes = parseQuantity(size);
      if (claim === undefined || bytes === undefined || words.length !== 2) throw wrong(text, USAGE.expand);
      return { kind: 'expand', claim, bytes };
    }
    case 'wait': {
      const at = words.lastIndexOf('within');
      if (at < 0) return { kind: 'wait', condition: parseCondition(text, words), withinMs: undefined };
      if (at !== words.length - 2) throw wrong(text, USAGE.wait);
      const withinMs = duration(text, words[at + 1]);
      return { kind: 'wait', condition: parseCondition(text, words.slice(0, at)), withinMs };
    }
    case 'assert':
      return { kind: 'assert', condition: parseCondition(text, words) };
    case 'advance':
      if (words.length !== 1) throw wrong(text, USAGE.advance);
      return { kind: 'advance', ms: duration(text, words[0]) };
    case 'kubelet':
      return {
        kind: 'kubelet',
        ...acting(text, words, ['stop', 'start', 'restart'] as const, USAGE.kubelet),
      };
    case 'driver':
      return { kind: 'driver', ...acting(text, words, ['kill', 'start', 'restart'] as const, USAGE.driver) };
    case 'node':
      return { kind: 'node', ...acting(text, words, ['reboot', 'down', 'up'] as const, USAGE.node) };
    case 'plugin':
      return { kind: 'plugin', ...acting(text, words, ['unregister', 'register'] as const, USAGE.plugin) };
    case 'api': {
      const { act, node } = acting(text, words, ['stop', 'start'] as const, USAGE.api);
      if (node !== undefined) throw wrong(text, USAGE.api);
      return { kind: 'api', act };
    }
    case 'taint': {
      const { act, node } = acting(text, words, ['out-of-service', 'none'] as const, USAGE.taint);
      return { kind: 'taint', outOfService: act === 'out-of-service', node };
    }
    case 'vol-data': {
      const { act, node } = acting(text, words, ['remove', 'empty', 'corrupt'] as const, USAGE['vol-data']);
      if (node === undefined) throw wrong(text, USAGE['vol-data']);
      return { kind: 'vol-data', act, pod: node };
    }
    default:
      throw new Error(
        `step ${JSON.stringify(text)}: expected one of ${Object.keys(USAGE).join(', ')}; found ${JSON.stringify(verb)}`,
      );
  }
}

function acting<A extends string>(
  text: string,
  words: readonly string[],
  acts: readonly A[],
  usage: string,
): { act: A; node: string | undefined } {
  const [word, node] = words;
  const act = acts.find((candidate) => candidate === word);
  if (act === undefined || words.length > 2) throw wrong(text, usage);
  return { act, node };
}

function parseCondition(text: string, [word = '', ...words]: readonly string[]): Condition {
  switch (word) {
    case 'not':
      return { kind: 'not', condition: parseCondition(text, words) };
    case 'running':
    case 'gone':
      return { kind: word, pods: words };
    case 'clean':
      if (words.length > 0) throw wrong(text, 'clean, and nothing after it');
      return { kind: 'clean' };
    case 'event': {
      const [reason, object] = words;
      if (reason === undefined || words.length > 2) throw wrong(text, 'event <Reason> [object]');
      return { kind: 'event', reason, object };
    }
    case 'state': {
      const [subject, stateText] = words;
      const state = STATE_WORDS.find((candidate) => candidate === stateText);
      if (subject === undefined || state === undefined || words.length !== 2)
        throw wrong(text, `state <claim> ${STATE_WORDS.join('|')}`);
      return { kind: 'state', subject, state };
    }
    case 'calls':
      return parseCalls(text, words);
    default:
      throw wrong(text, `a condition: ${CONDITIONS}`);
  }
}

function parseCalls(text: string, words: readonly string[]): Condition {
  const [method, ...rest] = words;
  const usage = 'calls <Method> [CODE] [>=N | <=N | =N]';
  if (method === undefined || rest.length > 2) throw wrong(text, usage);
  if (!isMethod(method))
    throw new Error(
      `step ${JSON.stringify(text)}: expected the name of an RPC, such as NodeStageVolume; found ${JSON.stringify(method)}`,
    );
  let code: string | undefined;
  let comparison: Comparison = '>=';
  let count = 1;
  for (const word of rest) {
    const compared = /^(>=|<=|=)(\d{1,6})$/.exec(word);
    if (compared) {
      comparison = compared[1] as Comparison;
      count = Number(compared[2]);
    } else if (word === 'OK' || Object.values(Code).includes(word)) code = word;
    else throw wrong(text, usage);
  }
  return { kind: 'calls', method, code, comparison, count };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `500ms`, `90s`, `2m3s`. */
function duration(text: string, written = ''): number {
  const ms = parseDuration(written);
  if (ms === undefined) throw wrong(text, 'a duration such as 500ms, 90s or 2m3s');
  return ms;
}

/** Milliseconds; undefined for what is no duration. */
export function parseDuration(written: string): number | undefined {
  const parts = [...written.matchAll(/(\d{1,9})(ms|s|m|h)/g)];
  const isWhole = parts.map(([part]) => part).join('') === written && parts.length > 0;
  if (!isWhole) return undefined;
  return parts.reduce((sum, [, count = '0', unit = 's']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

function wrong(text: string, usage: string): Error {
  return new Error(`step ${JSON.stringify(text)}: expected ${usage}`);
}
