import type { JournalCall } from '../../journal/calls';
import type { EventEntry, Miss } from '../../journal/entry';
import { matchesRule } from '../../journal/query';

/**
 * A rule as `scenarioArmed` and `scenarioReloaded` name it in `details.rules`: by its name, or as `{name, methods}` where
 * no methods means all.
 */
export interface ArmedRule {
  /** `scenario/rule` */
  readonly rule: string;
  /** Undefined: the journal does not say. */
  readonly methods: readonly string[] | 'all' | undefined;
}

interface ArmedDetails {
  scenario?: unknown;
  name?: unknown;
  rules?: unknown;
}

/** Name of the scenario that an event is about. */
export function scenarioOf(details: object | null): string | undefined {
  const { scenario, name } = (details ?? {}) as ArmedDetails;
  return typeof scenario === 'string' ? scenario : typeof name === 'string' ? name : undefined;
}

/** It acts no more, whether somebody or its own limits said so. */
export function endsArming(event: string): boolean {
  return event === 'scenarioDisarmed' || event === 'scenarioExpired' || event === 'scenarioStopped';
}

/** A rule that was armed once, and why it acts no more. */
export interface EndedRule extends ArmedRule {
  readonly why: string;
}

/** A long life sees many rules go: whoever asks thinks of one of the last. */
const MAX_ENDED = 20;

/** Which rules were armed, and how near they came, as far as the journal tells. */
export class ArmedRules {
  private readonly scenarios = new Map<string, readonly ArmedRule[] | undefined>();
  private readonly over = new Map<string, readonly EndedRule[]>();
  private readonly misses = new Map<string, { miss: Miss; call: JournalCall }>();

  event({ event, details }: EventEntry): void {
    const scenario = scenarioOf(details);
    if (scenario === undefined) return;
    if (endsArming(event)) this.end(scenario, whyEnded(event, details));
    if (event === 'scenarioArmed' || event === 'scenarioReloaded') {
      this.over.delete(scenario);
      this.scenarios.set(scenario, rulesOf(scenario, details));
    }
  }

  answered(call: JournalCall): void {
    for (const miss of call.misses) this.misses.set(miss.rule, { miss, call });
  }

  /** Undefined: the journal does not say which rules were armed. */
  armed(): readonly ArmedRule[] | undefined {
    const all = [...this.scenarios.values()];
    return all.length === 0 || all.includes(undefined) ? undefined : all.flatMap((rules) => rules ?? []);
  }

  private end(scenario: string, why: string): void {
    const rules = this.scenarios.get(scenario);
    this.scenarios.delete(scenario);
    if (rules === undefined) return;
    this.over.delete(scenario);
    this.over.set(
      scenario,
      rules.map((rule) => ({ ...rule, why })),
    );
    for (const oldest of this.over.keys()) if (this.over.size > MAX_ENDED) this.over.delete(oldest);
  }

  /** Rules that acted once and act no more, those that ended last at the end. */
  ended(): readonly EndedRule[] {
    return [...this.over.values()].flat();
  }

  /** The last time a rule nearly fired. */
  lastMiss(rule: string): { miss: Miss; call: JournalCall } | undefined {
    return [...this.misses.values()].findLast(({ miss }) => matchesRule(rule, miss.rule));
  }

  forgetMisses(): void {
    this.misses.clear();
  }
}

function whyEnded(event: string, details: object | null): string {
  if (event === 'scenarioExpired') return 'its scenario had expired';
  const { why } = (details ?? {}) as { why?: unknown };
  if (event === 'scenarioStopped') return `its scenario had stopped itself (${String(why)})`;
  return 'its scenario had been disarmed or removed';
}

function rulesOf(scenario: string, details: object | null): readonly ArmedRule[] | undefined {
  const { rules } = (details ?? {}) as ArmedDetails;
  if (!Array.isArray(rules)) return undefined;
  return rules.flatMap((rule: string | { name?: unknown; methods?: unknown } | null) => {
    const name = typeof rule === 'string' ? rule : rule?.name;
    if (typeof name !== 'string') return [];
    const full = name.includes('/') ? name : `${scenario}/${name}`;
    return [{ rule: full, methods: typeof rule === 'string' ? undefined : methodsOf(rule?.methods) }];
  });
}

function methodsOf(methods: unknown): readonly string[] | 'all' {
  return Array.isArray(methods) ? methods.map(String) : 'all';
}

/** `rule slow did not fire: volume.storageClass was "fast", wanted "slow*" (call 117)` */
export function missSentence({ rule, key, found = 'nothing', wanted }: Miss, { call }: JournalCall): string {
  const name = rule.slice(rule.lastIndexOf('/') + 1);
  return `rule ${name} did not fire: ${keySentence({ key, found, wanted })} (call ${call})`;
}

export function keySentence(miss: { key: string; found: string; wanted?: string | undefined }): string {
  const key = miss.key.replace(/^match\./, '');
  return `${key} was ${miss.found}${miss.wanted === undefined ? '' : `, wanted ${JSON.stringify(miss.wanted)}`}`;
}
