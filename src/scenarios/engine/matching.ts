import type { Match, Patterns, PodMatch, Scope, VolumeMatch } from '../model';
import type { CallFacts, KeyMiss, PodFacts, VolumeFacts } from './facts';

/**
 * Whether a call is one that a rule is about; its method is known to be. Cheap keys come first.
 * @param scope of the call, for expressions: the same for all rules that are asked.
 * @returns the first key that does not hold, or undefined.
 */
export function matchCall(match: Match, call: CallFacts, scope: () => Scope): KeyMiss | undefined {
  return (
    testPatterns('match.node', match.node, call.nodeId) ??
    (match.volume && matchVolume(match.volume, call.volume())) ??
    (match.pod && matchPod(match.pod, call.pod())) ??
    matchState(match, call) ??
    matchWhere(match, scope)
  );
}

export function matchVolume(match: VolumeMatch, volume: VolumeFacts | undefined): KeyMiss | undefined {
  if (!volume) return { key: 'match.volume', found: 'no such volume', wanted: 'a volume' };
  return (
    testPatterns('match.volume.id', match.id, volume.id) ??
    testPatterns('match.volume.name', match.name, volume.name) ??
    testPatterns('match.volume.pvc.namespace', match.pvcNamespace, volume.pvc.namespace) ??
    testPatterns('match.volume.pvc.name', match.pvcName, volume.pvc.name) ??
    testPatterns('match.volume.storageClass', match.storageClass, volume.storageClass) ??
    testMap('match.volume.parameters', match.parameters, volume.parameters) ??
    testMap('match.volume.attributes', match.attributes, volume.attributes) ??
    testPatterns('match.volume.fsType', match.fsType, volume.fsType) ??
    testAny('match.volume.accessMode', match.accessMode, volume.accessModes) ??
    testBlock(match.block, volume) ??
    testCapacity(match, volume)
  );
}

function matchPod(match: PodMatch, pod: PodFacts | undefined): KeyMiss | undefined {
  if (!pod)
    return {
      key: 'match.pod',
      found: 'a call without a pod (is podInfoOnMount set in the CSIDriver?)',
      wanted: 'a pod',
    };
  return (
    testPatterns('match.pod.namespace', match.namespace, pod.namespace) ??
    testPatterns('match.pod.name', match.name, pod.name) ??
    testPatterns('match.pod.uid', match.uid, pod.uid) ??
    testPatterns('match.pod.serviceAccount', match.serviceAccount, pod.serviceAccount)
  );
}

function matchState({ state }: Match, call: CallFacts): KeyMiss | undefined {
  if (!state) return undefined;
  const states = call.volume()?.states ?? [];
  if (state.some((wanted) => states.includes(wanted))) return undefined;
  return {
    key: 'match.state.volume',
    found: states.join(', ') || 'no such volume',
    wanted: state.join(' or '),
  };
}

function matchWhere({ where }: Match, scope: () => Scope): KeyMiss | undefined {
  if (!where) return undefined;
  const value = where.evaluate(scope());
  if (value === true) return undefined;
  return { key: 'match.where', found: JSON.stringify(value) ?? 'null', wanted: where.source };
}

function testPatterns(
  key: string,
  patterns: Patterns | undefined,
  value: string | undefined,
): KeyMiss | undefined {
  if (!patterns || patterns.test(value)) return undefined;
  return { key, found: value === undefined ? 'nothing' : JSON.stringify(value), wanted: patterns.source };
}

function testMap(
  key: string,
  wanted: Readonly<Record<string, Patterns>> | undefined,
  map: Readonly<Record<string, string>>,
): KeyMiss | undefined {
  for (const [name, patterns] of Object.entries(wanted ?? {})) {
    const miss = testPatterns(`${key}.${name}`, patterns, Object.hasOwn(map, name) ? map[name] : undefined);
    if (miss) return miss;
  }
  return undefined;
}

function testAny(
  key: string,
  patterns: Patterns | undefined,
  values: readonly string[],
): KeyMiss | undefined {
  if (!patterns || values.some((value) => patterns.test(value))) return undefined;
  if (values.length === 0) return testPatterns(key, patterns, undefined);
  return { key, found: values.join(', '), wanted: patterns.source };
}

function testBlock(block: boolean | undefined, volume: VolumeFacts): KeyMiss | undefined {
  if (block === undefined || block === volume.block) return undefined;
  return { key: 'match.volume.block', found: String(volume.block), wanted: String(block) };
}

function testCapacity({ capacity }: VolumeMatch, volume: VolumeFacts): KeyMiss | undefined {
  if (!capacity || capacity.test(volume.capacityBytes)) return undefined;
  return {
    key: 'match.volume.capacity',
    found: volume.capacityBytes === undefined ? 'nothing' : `${volume.capacityBytes}`,
    wanted: capacity.source,
  };
}
