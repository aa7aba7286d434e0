import { rpcs } from '../../csi/rpcs';
import type { JournalCall } from '../../journal/calls';
import type { VolumeIndex } from '../../journal/volume-index';
import type { KeyMiss } from '../engine/facts';
import { matchVolume } from '../engine/matching';
import type { CallSelector, Patterns, PodMatch } from '../model';
import { podFactsOf, volumeFactsOf } from './facts';

/** A call as expectations look at it, with its place in the timeline. */
export interface SeenCall {
  readonly call: JournalCall;
  /** Position in the timeline of its arrival and of its end. */
  readonly order: number;
  endOrder?: number;
}

/** Whether it is of the methods that a selector is about; everything else is then worth a near miss. */
export function isOfMethod({ methods, service }: CallSelector, { method }: JournalCall): boolean {
  if (methods && !methods.has(method)) return false;
  return !service || service.includes(rpcs[method]?.service);
}

/** Whether a call can be told to be selected only once it has been answered. */
export function needsAnswer({ code, message, fired }: CallSelector): boolean {
  return code !== undefined || message !== undefined || fired !== undefined;
}

/** Every key but the method that does not hold, in the order of the language. Empty: selected, if of the method. */
export function missingKeys(selector: CallSelector, call: JournalCall, volumes: VolumeIndex): KeyMiss[] {
  const misses: (KeyMiss | undefined)[] = [testText('node', selector.node, call.nodeId)];
  if (selector.volume) misses.push(matchVolume(selector.volume, volumeFactsOf(call, volumes)));
  if (selector.pod) misses.push(testPod(selector.pod, call));
  misses.push(testText('code', selector.code, call.code));
  misses.push(testText('message', selector.message, call.message));
  misses.push(testFired(selector.fired, call.fired));
  return misses.filter((miss) => miss !== undefined);
}

export function isSelected(selector: CallSelector, call: JournalCall, volumes: VolumeIndex): boolean {
  return isOfMethod(selector, call) && missingKeys(selector, call, volumes).length === 0;
}

function testPod(wanted: PodMatch, call: JournalCall): KeyMiss | undefined {
  const pod = podFactsOf(call);
  if (!pod) return { key: 'pod', found: 'not known for this call', wanted: 'a pod' };
  return (
    testText('pod.namespace', wanted.namespace, pod.namespace) ??
    testText('pod.name', wanted.name, pod.name) ??
    testText('pod.uid', wanted.uid, pod.uid) ??
    testText('pod.serviceAccount', wanted.serviceAccount, pod.serviceAccount)
  );
}

/** `scenario/rule` or the rule's own name; with none fired only a negation holds. */
function testFired(wanted: Patterns | undefined, fired: readonly string[]): KeyMiss | undefined {
  if (!wanted) return undefined;
  const names = fired.flatMap((rule) => [rule, rule.slice(rule.lastIndexOf('/') + 1)]);
  const holds = names.length === 0 ? wanted.test(undefined) : names.some((name) => wanted.test(name));
  if (holds) return undefined;
  return { key: 'fired', found: fired.length === 0 ? 'nothing' : fired.join(', '), wanted: wanted.source };
}

function testText(key: string, wanted: Patterns | undefined, value: string | undefined): KeyMiss | undefined {
  if (!wanted || wanted.test(value)) return undefined;
  return { key, found: value === undefined ? 'nothing' : JSON.stringify(value), wanted: wanted.source };
}
