import { invalidArgument, notFound } from '../../csi/status';
import { CallJoiner, type JournalCall } from '../../journal/calls';
import type { Miss } from '../../journal/entry';
import type { TimelineEntry } from '../../journal/merge';
import { printable } from '../../util/text';
import { type ArmedRule, ArmedRules, type EndedRule, keySentence } from './armed-rules';
import { callLine } from './text';

/** Why rules fired for a call, or did not. */
export interface Explanation {
  readonly call: JournalCall;
  readonly fired: readonly string[];
  /** Rules for its method that did not fire: the first key that did not hold. */
  readonly misses: readonly Miss[];
  /** Rules for its method that were not asked: one before them fired and ended the search. */
  readonly notAsked: readonly string[];
  /** Rules that were armed when it came, and are about other methods. */
  readonly otherMethods: readonly ArmedRule[];
  /** Where none fired: rules for its method that had been armed before it came, and were no longer. */
  readonly notArmed: readonly Omit<EndedRule, 'methods'>[];
  /** The journal tells which rules were armed. */
  readonly armedKnown: boolean;
}

interface Source {
  entries(keep?: (line: string) => boolean): AsyncIterable<TimelineEntry>;
}

/**
 * @param timeline a Timeline
 * @param number the call's number; its last arrival counts where a number was used again
 * @param process needed only where several processes have a call of that number
 * @throws CsiError NOT_FOUND when there is no such call, INVALID_ARGUMENT when there are several
 */
export async function explain(timeline: Source, number: number, process?: string): Promise<Explanation> {
  const joiner = new CallJoiner();
  const rules = new Map<string, ArmedRules>();
  const found = new Map<
    string,
    { call: JournalCall; armed: readonly ArmedRule[] | undefined; over: readonly EndedRule[] }
  >();
  const wanted = `"call":${number},`;
  for await (const entry of timeline.entries((line) => line.includes(wanted) || isEvent(line))) {
    if (process !== undefined && entry.process !== process) continue;
    let own = rules.get(entry.process);
    if (!own) {
      own = new ArmedRules();
      rules.set(entry.process, own);
    }
    if (entry.type === 'event') {
      own.event(entry);
      joiner.add(entry);
      continue;
    }
    if (entry.call !== number) continue;
    for (const { call, change } of joiner.add(entry))
      if (change === 'received') found.set(entry.process, { call, armed: own.armed(), over: own.ended() });
  }
  const [first, ...others] = found.values();
  if (!first)
    throw notFound(
      `the journal has no call ${number}${process === undefined ? '' : ` of ${process}`}: see \`fake-csi calls\``,
    );
  if (others.length > 0)
    throw invalidArgument(
      `call ${number} is in the journals of ${[...found.keys()].join(', ')}: say of which process`,
    );
  return describe(first.call, first.armed, first.over);
}

function isEvent(line: string): boolean {
  return line.includes('"type":"event"');
}

function describe(
  call: JournalCall,
  armed: readonly ArmedRule[] | undefined,
  over: readonly EndedRule[],
): Explanation {
  const { fired, misses, method } = call;
  const told = new Set([...fired, ...misses.map(({ rule }) => rule)]);
  const rest = (armed ?? []).filter(({ rule }) => !told.has(rule));
  // Every rule about a method is asked until one fires: one that was neither asked nor told its methods is for others.
  const isOther = ({ methods }: ArmedRule) =>
    methods === undefined ? fired.length === 0 : methods !== 'all' && !methods.includes(method);
  const ended = !call.pending && !call.lost;
  return {
    call,
    fired,
    misses,
    notAsked: ended && fired.length > 0 ? rest.filter((one) => !isOther(one)).map(({ rule }) => rule) : [],
    otherMethods: ended ? rest.filter(isOther) : [],
    notArmed:
      ended && fired.length === 0
        ? over.filter((one) => !told.has(one.rule) && !isOther(one)).map(({ rule, why }) => ({ rule, why }))
        : [],
    armedKnown: armed !== undefined,
  };
}

/** For people. */
export function explanationText(explanation: Explanation): string {
  const { call, fired, misses, notAsked, notArmed, otherMethods, armedKnown } = explanation;
  const lines = [callLine(call)];
  if (call.pending) lines.push('it runs: what fired is known when it ends');
  else if (call.lost)
    lines.push(
      `its process ended before it answered${fired.length === 0 ? ': what fired is not known' : ', by a rule'}`,
    );
  for (const rule of fired) lines.push(`fired: ${rule}`);
  for (const { rule, key, found = 'nothing', wanted } of misses)
    lines.push(`did not fire: ${rule}: ${keySentence({ key, found, wanted })}`);
  for (const rule of notAsked) lines.push(`not asked: ${rule}: another rule had fired`);
  for (const { rule, why } of notArmed) lines.push(`not armed: ${rule}: ${why}`);
  for (const { rule, methods } of otherMethods)
    lines.push(`for other methods: ${rule}${Array.isArray(methods) ? ` (${methods.join(', ')})` : ''}`);
  if (lines.length === 1)
    lines.push(armedKnown ? 'no rule was armed' : 'no rule was near: none was armed for this method');
  return `${lines.map(printable).join('\n')}\n`;
}
