import type { JournalCall } from '../../../journal/calls';
import type { ExpectationTest } from '../../model';
import { type Context, type Evaluator, type Outcome, plural } from '../evaluator';
import { isSelected } from '../select';

type Test = Extract<ExpectationTest, { kind: 'idempotent' }>;

/** After one of these a repeat is a new beginning, and may be answered in another way. */
const ENDS: Readonly<Record<string, string>> = {
  DeleteVolume: 'CreateVolume',
  DeleteSnapshot: 'CreateSnapshot',
  DeleteVolumeGroupSnapshot: 'CreateVolumeGroupSnapshot',
  ControllerUnpublishVolume: 'ControllerPublishVolume',
  ControllerPublishVolume: 'ControllerUnpublishVolume',
  NodeUnstageVolume: 'NodeStageVolume',
  NodeStageVolume: 'NodeUnstageVolume',
  NodeUnpublishVolume: 'NodePublishVolume',
  NodePublishVolume: 'NodeUnpublishVolume',
};

interface Known {
  readonly call: JournalCall;
  readonly answer: string;
}

export function idempotentEvaluator(test: Test, { volumes }: Context): Evaluator {
  /** First OK by method and request, and which of those are about what. */
  const known = new Map<string, Known>();
  const about = new Map<string, Set<string>>();
  let total = 0;
  let repeats = 0;
  let wrong: [JournalCall, JournalCall] | undefined;

  const forget = (call: JournalCall) => {
    const begun = ENDS[call.method];
    const subject = begun === undefined ? undefined : `${begun} ${subjectOf(call)}`;
    if (subject === undefined) return;
    for (const key of about.get(subject) ?? []) known.delete(key);
    about.delete(subject);
  };

  const remember = (key: string, call: JournalCall, answer: string) => {
    known.set(key, { call, answer });
    const subject = `${call.method} ${subjectOf(call)}`;
    const keys = about.get(subject);
    if (keys) keys.add(key);
    else about.set(subject, new Set([key]));
  };

  return {
    call({ call }, change) {
      if (change !== 'answered' || call.code !== 'OK') return;
      forget(call);
      if (!isSelected(test.calls, call, volumes)) return;
      total += 1;
      const key = `${call.process} ${call.method} ${canonical(call.request)}`;
      const answer = canonical(call.response ?? {});
      const first = known.get(key);
      if (!first) remember(key, call, answer);
      else {
        repeats += 1;
        if (first.answer !== answer) wrong ??= [first.call, call];
      }
    },
    outcome({ final }): Outcome {
      if (wrong) {
        const [first, second] = wrong;
        return {
          status: 'failed',
          summary: `calls ${first.call} and ${second.call} (${second.method}) asked the same and were answered differently`,
          evidence: wrong,
        };
      }
      if (total === 0)
        return { status: final ? 'failed' : 'pending', summary: 'no such call has answered OK' };
      const repeated = repeats === 0 ? 'none was repeated' : `${plural(repeats, 'repeat')} answered alike`;
      return { status: 'passed', summary: `${plural(total, 'call')}, ${repeated}` };
    },
  };
}

interface Named {
  volume_id?: string;
  snapshot_id?: string;
  group_snapshot_id?: string;
  snapshot?: { snapshot_id?: string };
  group_snapshot?: { group_snapshot_id?: string };
}

/** What a call makes or takes away. */
function subjectOf({ volumeId, request, response }: JournalCall): string {
  const { snapshot_id, group_snapshot_id } = request as Named;
  const { snapshot, group_snapshot } = (response ?? {}) as Named;
  return (
    group_snapshot_id ??
    group_snapshot?.group_snapshot_id ??
    snapshot_id ??
    snapshot?.snapshot_id ??
    volumeId ??
    ''
  );
}

/** JSON with sorted keys. A snapshot that becomes ready in between is no other answer. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (key === 'ready_to_use') return undefined;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
