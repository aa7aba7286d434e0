import { methods as allMethods } from '../../../csi/rpcs';
import { list } from '../build/match';
import type { BuiltRule } from '../build/rule';
import { carriesPod, carriesVolume } from '../methods';
import type { Path } from '../positions';
import type { Report } from '../report';

/** Further than anybody counts calls, and quick to try. */
const FARTHEST = 100_000;

/** Counters that never come to the call they wait for. */
export function lintCounting({ rule, input, path }: BuiltRule, report: Report): void {
  const when: Path = [...path, 'when'];
  const { probability, nth, every } = rule.when;
  const known = [...(rule.match.methods ?? allMethods)];
  if (probability === 0) report.error([...when, 'probability'], 'never comes true: the rule can never fire');
  if (input.when?.per === 'pod' && !known.some(carriesPod))
    report.error(
      [...when, 'per'],
      `${list(known)} carries no pod to count by (NodePublishVolume, NodeUnpublishVolume and NodeGetVolumeStats do)`,
    );
  if (input.when?.per === 'volume' && !known.some(carriesVolume))
    report.error([...when, 'per'], `${list(known)} is about no volume to count by: count per rule`);
  if (nth === undefined || every === undefined) return;
  const last = Math.min(input.when?.nth?.max ?? FARTHEST, FARTHEST);
  for (let ordinal = every; ordinal <= last; ordinal += every) if (nth.test(ordinal)) return;
  report.error(
    [...when, 'nth'],
    `the rule can never fire: no call of nth ${nth.source} is one of every ${every}`,
  );
}
