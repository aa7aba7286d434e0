import fc from 'fast-check';
import { sequences } from '../../model/arbitrary';
import { groundOf } from '../../model/grounds';
import { expectationOf } from '../../model/judge';
import type { Operation, Rpc } from '../../model/operations';
import { EMPTY, type Plugin, type State } from '../../model/state';

const RPCS: Record<Rpc, readonly string[]> = {
  CreateVolume: [
    'OK',
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'OUT_OF_RANGE',
    'RESOURCE_EXHAUSTED',
  ],
  DeleteVolume: ['OK', 'FAILED_PRECONDITION'],
  ControllerPublishVolume: ['OK', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED'],
  ControllerUnpublishVolume: ['OK'],
  ValidateVolumeCapabilities: ['OK', 'NOT_FOUND'],
  ControllerGetVolume: ['OK', 'NOT_FOUND'],
  ControllerExpandVolume: ['OK', 'INVALID_ARGUMENT', 'NOT_FOUND', 'OUT_OF_RANGE', 'RESOURCE_EXHAUSTED'],
  ControllerModifyVolume: ['OK', 'INVALID_ARGUMENT', 'NOT_FOUND'],
  ListVolumes: ['OK'],
  GetCapacity: ['OK'],
  CreateSnapshot: ['OK', 'NOT_FOUND', 'ALREADY_EXISTS', 'RESOURCE_EXHAUSTED'],
  DeleteSnapshot: ['OK', 'INVALID_ARGUMENT', 'FAILED_PRECONDITION'],
  GetSnapshot: ['OK', 'NOT_FOUND'],
  ListSnapshots: ['OK'],
  GetMetadataAllocated: ['OK', 'NOT_FOUND'],
  CreateVolumeGroupSnapshot: ['OK', 'INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'],
  DeleteVolumeGroupSnapshot: ['OK', 'INVALID_ARGUMENT'],
  GetVolumeGroupSnapshot: ['OK', 'INVALID_ARGUMENT', 'NOT_FOUND'],
  NodeStageVolume: ['OK', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'],
  NodeUnstageVolume: ['OK', 'FAILED_PRECONDITION'],
  NodePublishVolume: ['OK', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'],
  NodeUnpublishVolume: ['OK', 'FAILED_PRECONDITION'],
  NodeGetVolumeStats: ['OK', 'NOT_FOUND'],
  NodeExpandVolume: ['OK', 'NOT_FOUND', 'OUT_OF_RANGE', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED'],
};

/** What the model says to a sequence, with no driver at all. */
function* answers(plugin: Plugin, steps: readonly Operation[]): Generator<string> {
  let state: State = EMPTY;
  for (const one of steps) {
    const members = 'members' in one && one.members === 'own' ? { members: ownMembers(state, one.g) } : {};
    const operation = { ...one, ...members } as Operation;
    const { refusals, next } = expectationOf(state, operation, { plugin, changing: new Set() });
    for (const code of refusals) yield `${operation.rpc} ${code}`;
    if (refusals.length > 0) continue;
    yield `${operation.rpc} OK`;
    state = next ?? state;
  }
}

const ownMembers = (state: State, g: string) => (state.groups.get(g)?.sources ?? []).map((v) => `${g}/${v}`);

test.each(['memory', 'tmpfs'] as const)(
  'sequences on %s come to every answer that the model knows',
  (backend) => {
    const ground = groundOf(backend);
    const found = new Set<string>();
    for (const steps of fc.sample(sequences(ground), { seed: 1, numRuns: 1_500 })) {
      const operations = steps.flatMap((step) =>
        step.kind === 'call' ? [step.operation] : step.kind === 'together' ? step.operations : [],
      );
      for (const answer of answers(ground.plugin, operations)) found.add(answer);
    }
    const wanted = Object.entries(RPCS).flatMap(([rpc, codes]) => codes.map((code) => `${rpc} ${code}`));
    // A plugin of folders has no blocks to tell of, and nothing but mounts to be asked for.
    const impossible =
      backend === 'tmpfs' ? ['GetMetadataAllocated OK', 'ControllerExpandVolume INVALID_ARGUMENT'] : [];
    expect(wanted.filter((answer) => !found.has(answer) && !impossible.includes(answer))).toEqual([]);
  },
);
