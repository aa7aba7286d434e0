import { methods as allMethods, type Method, type ServiceName } from '../../../csi/rpcs';
import type { Match, PodMatch, VolumeMatch, VolumeState } from '../../model';
import { buildExpression } from '../expression';
import { carriesPod, carriesVolume } from '../methods';
import { methodsOf } from '../names';
import type { Path } from '../positions';
import type { Report } from '../report';
import type { MatchInput, PodInput, VolumeInput } from '../schema/match';

/** An object without the keys that are undefined: the model's optional keys are absent instead. */
export function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

export function methodsLeft(
  rpc: ReadonlySet<Method> | undefined,
  services: readonly ServiceName[] | undefined,
): ReadonlySet<Method> | undefined {
  if (services === undefined) return rpc;
  const served = methodsOf(services);
  return rpc === undefined ? served : new Set([...rpc].filter((method) => served.has(method)));
}

export function buildMatch(input: MatchInput | undefined, report: Report, path: Path): Match {
  const { rpc, service, node, volume, pod, state, where } = input ?? {};
  const methods = methodsLeft(rpc, service);
  const known = [...(methods ?? allMethods)];
  if (known.length === 0) report.error([...path, 'rpc'], 'no RPC of match.service is one of match.rpc');
  else {
    if (volume !== undefined && !known.some(carriesVolume))
      report.errorAtKey([...path, 'volume'], `can never match: ${list(known)} is about no volume`);
    if (state !== undefined && !known.some(carriesVolume))
      report.errorAtKey([...path, 'state'], `can never match: ${list(known)} is about no volume`);
    if (pod !== undefined && !known.some(carriesPod))
      report.errorAtKey(
        [...path, 'pod'],
        `can never match: ${list(known)} carries no pod (NodePublishVolume, NodeUnpublishVolume and NodeGetVolumeStats do)`,
      );
  }
  const built = where === undefined ? undefined : buildExpression(where, known, ['rule', 'scenario']);
  if (built !== undefined) report.failures([...path, 'where'], built.failures);
  return {
    methods,
    ...present({
      node,
      volume: volume && buildVolume(volume),
      pod: pod && buildPod(pod),
      state: state?.volume as readonly VolumeState[] | undefined,
      where: built?.expression,
    }),
  } as Match;
}

export function buildVolume(input: VolumeInput): VolumeMatch {
  const { pvc, ...rest } = input;
  return present({ ...rest, pvcNamespace: pvc?.namespace, pvcName: pvc?.name }) as VolumeMatch;
}

export function buildPod(input: PodInput): PodMatch {
  return present(input) as PodMatch;
}

export function list(methods: readonly Method[]): string {
  return methods.length <= 3
    ? methods.join(', ')
    : `${methods.slice(0, 2).join(', ')} and ${methods.length - 2} more`;
}
