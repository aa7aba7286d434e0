import type { VolumeFacts } from '../../engine/facts';
import { matchVolume } from '../../engine/matching';
import type { ExpectationTest } from '../../model';
import { type Context, type Evaluator, formatMs, type Outcome, plural, type Start } from '../evaluator';
import { volumeFactsOf, volumeFactsOfIndexed } from '../facts';
import { deletedVolume } from '../volume-states';
import type { WorldSnapshot, WorldVolume } from '../world';

type Test = Extract<ExpectationTest, { kind: 'eventually' }>;

/**
 * Every volume that matches comes to the state once, and there is one. The driver's records say how far a volume is;
 * only where there are none, or the volume is gone from them, is it told from the calls that answered OK.
 */
export function eventuallyEvaluator(test: Test, context: Context, start: Start): Evaluator {
  const { withinMs } = test;
  const wanted = test.state ?? 'created';
  const lateAt = withinMs === undefined ? Number.POSITIVE_INFINITY : start.ms + withinMs;
  /** Volumes that match, by id, and whether they have been there: by the calls, and by the records. */
  const byCalls = new Map<string, boolean>();
  const byRecords = new Map<string, boolean>();
  /** Of a journal that is older than `within` they tell too late. */
  let areRecordsRead = false;

  const note = (map: Map<string, boolean>, facts: VolumeFacts, isThere: boolean) => {
    if (test.volume && matchVolume(test.volume, facts)) return;
    map.set(facts.id, isThere || map.get(facts.id) === true);
  };

  for (const id of context.states.ids()) {
    const made = context.volumes.get(id);
    const state = context.states.get(id);
    if (made && state !== 'deleted') note(byCalls, volumeFactsOfIndexed(made), state === wanted);
  }

  const readRecords = (volumes: readonly WorldVolume[]) => {
    areRecordsRead = true;
    const there = new Set<string>();
    for (const volume of volumes) {
      there.add(volume.id);
      note(byRecords, factsOf(volume, context), volume.state === wanted);
    }
    for (const [id, wasThere] of [...byCalls, ...byRecords])
      if (!there.has(id)) byRecords.set(id, wasThere || wanted === 'deleted' || byRecords.get(id) === true);
  };

  return {
    call({ call }, change, atMs) {
      if (change !== 'answered' || call.volumeId === undefined || atMs > lateAt) return;
      const state = context.states.get(call.volumeId);
      const facts = volumeFactsOf(call, context.volumes);
      if (facts && state !== undefined) note(byCalls, facts, state === wanted);
    },
    event(entry, _order, atMs) {
      const id = deletedVolume(entry);
      if (id === undefined || atMs > lateAt) return;
      note(byCalls, factsOf({ id, state: 'created' }, context), wanted === 'deleted');
    },
    outcome({ nowMs, final, world }): Outcome {
      if (world?.volumes && nowMs <= lateAt) readRecords(world.volumes);
      const reached = areRecordsRead ? byRecords : byCalls;
      const left = [...reached].filter(([, isThere]) => !isThere).map(([id]) => id);
      if (reached.size > 0 && left.length === 0)
        return { status: 'passed', summary: `${plural(reached.size, 'volume')} came to be ${wanted}` };
      const [first] = left;
      const within = withinMs === undefined ? '' : ` within ${formatMs(withinMs)}`;
      const more = left.length > 1 ? `; so are ${left.length - 1} more` : '';
      const summary =
        first === undefined
          ? `there is no such volume, wanted one to be ${wanted}${within}`
          : `${first} is ${stateOf(first, world, context)}, wanted ${wanted}${within}${more}`;
      return { status: final || nowMs > lateAt ? 'failed' : 'pending', summary };
    },
  };
}

function factsOf({ id, state: _, ...known }: WorldVolume, { volumes }: Context): VolumeFacts {
  const made = volumes.get(id);
  const unknown = {
    id,
    name: '',
    pvc: {},
    storageClass: undefined,
    parameters: {},
    attributes: {},
    fsType: undefined,
    accessModes: [],
    block: false,
    capacityBytes: undefined,
    states: [],
  };
  return { ...(made ? volumeFactsOfIndexed(made) : unknown), ...known };
}

function stateOf(id: string, world: WorldSnapshot | undefined, { states }: Context): string {
  const record = world?.volumes?.find((volume) => volume.id === id);
  return record?.state ?? states.get(id) ?? 'unknown';
}
