import fc from 'fast-check';
import type { Access, Operation, Operations, Range, Rpc, Source, Step } from './operations';
import type { Plugin } from './state';

/** Few names, so that calls meet one another. */
export const NAMES = {
  volumes: ['v0', 'v1', 'v2'],
  snapshots: ['s0', 's1'],
  groups: ['g0', 'g1'],
  stagingPaths: ['a', 'b', 'c'],
  targets: ['t0', 't1', 't2'],
} as const;

/** What sequences are drawn from. */
export interface Ground {
  plugin: Plugin;
  sizes: readonly bigint[];
  /** The filesystems that calls name; '' for none. */
  named: readonly string[];
  longest: number;
}

const v = fc.constantFrom(...NAMES.volumes);
const g = fc.constantFrom(...NAMES.groups);
const at = fc.constantFrom(...NAMES.stagingPaths);
const target = fc.constantFrom(...NAMES.targets);
const path = fc.oneof(at, target);
const member = fc.tuple(g, v).map(([group, volume]) => `${group}/${volume}`);
const snapshot = fc.constantFrom(...NAMES.snapshots);
const s = fc.oneof({ arbitrary: snapshot, weight: 4 }, { arbitrary: member, weight: 1 });
const rarely = fc.nat(7).map((n) => n === 7);

function accesses({ plugin, named }: Ground): fc.Arbitrary<Access> {
  const modes = [
    'SINGLE_NODE_WRITER',
    'MULTI_NODE_MULTI_WRITER',
    'SINGLE_NODE_MULTI_WRITER',
    'MULTI_NODE_READER_ONLY',
    'SINGLE_NODE_READER_ONLY',
    'SINGLE_NODE_SINGLE_WRITER',
    'MULTI_NODE_SINGLE_WRITER',
  ] as const;
  const usual: Access = { type: 'mount', mode: 'SINGLE_NODE_WRITER', fs: '', flags: [] };
  const any = fc.record({
    type: fc.constantFrom(...plugin.types, 'mount' as const),
    mode: fc.constantFrom(...modes),
    fs: fc.constantFrom(...named),
    flags: fc.constantFrom<string[][]>([], [], [], ['noatime'], ['ro']),
  });
  const raw: Access = { ...usual, type: 'block' };
  return fc.oneof(
    { arbitrary: fc.constant(usual), weight: 3 },
    { arbitrary: fc.constant<Access>({ ...usual, mode: 'MULTI_NODE_MULTI_WRITER' }), weight: 3 },
    ...(plugin.types.includes('block') ? [{ arbitrary: fc.constant(raw), weight: 1 }] : []),
    { arbitrary: any, weight: 2 },
  );
}

function ranges({ sizes, plugin }: Ground): fc.Arbitrary<Range> {
  const size = fc.constantFrom(...sizes);
  return fc.oneof(
    { arbitrary: size.map((required) => ({ required, limit: 0n })), weight: 6 },
    { arbitrary: fc.record({ required: size, limit: size }), weight: 2 },
    { arbitrary: size.map((limit) => ({ required: 0n, limit })), weight: 1 },
    { arbitrary: fc.constant({ required: plugin.largest + 1n, limit: 0n }), weight: 1 },
  );
}

/** For each RPC, how often it comes and what it asks. */
function calls(ground: Ground): { [R in Rpc]: [number, fc.Arbitrary<Operations[R]>] } {
  const access = accesses(ground);
  const range = ranges(ground);
  const node = fc.constantFrom(...Object.keys(ground.plugin.nodes), 'unknown');
  const source = fc.oneof(
    fc.record<Source>({ kind: fc.constant('volume'), of: v }),
    fc.record<Source>({ kind: fc.constant('snapshot'), of: s }),
  );
  const create = fc.record({
    v,
    range: fc.option(range, { freq: 3 }),
    access: fc.oneof(
      { arbitrary: access.map((one) => [one]), weight: 5 },
      { arbitrary: fc.array(access, { minLength: 2, maxLength: 2 }), weight: 1 },
    ),
    groupable: rarely.map((no) => !no),
    protect: rarely,
    source: fc.option(source, { freq: 2 }),
  });
  const members = fc.oneof(
    { arbitrary: fc.constant('own' as const), weight: 4 },
    { arbitrary: fc.array(member, { maxLength: 2 }), weight: 1 },
  );
  const changes = fc.constantFrom<Record<string, string>[]>(
    { readAheadKiB: '64' },
    { deletionProtection: 'true' },
    { deletionProtection: 'false' },
    { deletionProtection: 'false' },
    { unknown: 'key' },
    {},
  );
  const max = fc.nat(3);
  return {
    CreateVolume: [10, create],
    DeleteVolume: [5, fc.record({ v })],
    ControllerPublishVolume: [6, fc.record({ v, node, access, readonly: rarely })],
    ControllerUnpublishVolume: [4, fc.record({ v, node: fc.oneof(node, fc.constant('')) })],
    ValidateVolumeCapabilities: [1, fc.record({ v, access })],
    ControllerGetVolume: [2, fc.record({ v })],
    ControllerExpandVolume: [3, fc.record({ v, range, access: fc.option(access, { freq: 2 }) })],
    ControllerModifyVolume: [2, fc.record({ v, changes })],
    ListVolumes: [2, fc.record({ max })],
    GetCapacity: [1, fc.constant({})],
    CreateSnapshot: [5, fc.record({ s: snapshot, v, dependent: fc.boolean() })],
    DeleteSnapshot: [4, fc.record({ s })],
    GetSnapshot: [2, fc.record({ s })],
    ListSnapshots: [2, listings(max)],
    GetMetadataAllocated: [1, fc.record({ s })],
    CreateVolumeGroupSnapshot: [5, fc.record({ g, vs: fc.array(v, { minLength: 1, maxLength: 2 }) })],
    DeleteVolumeGroupSnapshot: [3, fc.record({ g, members })],
    GetVolumeGroupSnapshot: [3, fc.record({ g, members })],
    NodeStageVolume: [
      6,
      fc.record({ v, at, access, context: fc.constantFrom('own', 'own', 'own', 'none', 'other') }),
    ],
    NodeUnstageVolume: [5, fc.record({ v, at })],
    NodePublishVolume: [
      6,
      fc.record({ v, at: fc.oneof(at, fc.constant('')), target, access, readonly: rarely }),
    ],
    NodeUnpublishVolume: [5, fc.record({ v, target })],
    NodeGetVolumeStats: [2, fc.record({ v, path })],
    NodeExpandVolume: [3, fc.record({ v, path, range: fc.option(range, { freq: 3 }) })],
  };
}

function listings(max: fc.Arbitrary<number>): fc.Arbitrary<Operations['ListSnapshots']> {
  const none = fc.constant('');
  return fc.record({ max, s: fc.oneof(none, s), v: fc.oneof(none, v) });
}

function operations(ground: Ground): fc.Arbitrary<Operation> {
  const weighted = Object.entries(calls(ground)).map(([rpc, [weight, fields]]) => ({
    weight,
    arbitrary: (fields as fc.Arbitrary<object>).map((asked) => ({ rpc, ...asked }) as Operation),
  }));
  return fc.oneof(...weighted);
}

/** A volume on its way to a pod, or the way back, with a step left out now and then: chance alone rarely goes so far. */
function journeys(ground: Ground): fc.Arbitrary<Step[]> {
  const kept = fc.nat(9).map((n) => n > 0);
  const node = Object.keys(ground.plugin.nodes)[0] ?? '';
  return fc
    .tuple(
      fc.record({ v, at, target, access: accesses(ground) }),
      fc.array(kept, { minLength: 10, maxLength: 10 }),
      fc.constantFrom('there', 'back', 'both'),
    )
    .map(([{ access, ...names }, keep, way]) => {
      const there: Operation[] = [
        {
          rpc: 'CreateVolume',
          v: names.v,
          range: null,
          access: [access],
          groupable: true,
          protect: false,
          source: null,
        },
        { rpc: 'ControllerPublishVolume', v: names.v, node, access, readonly: false },
        { rpc: 'NodeStageVolume', v: names.v, at: names.at, access, context: 'own' },
        { rpc: 'NodePublishVolume', ...names, access, readonly: false },
        { rpc: 'NodeGetVolumeStats', v: names.v, path: names.target },
        { rpc: 'NodeExpandVolume', v: names.v, path: names.target, range: null },
      ];
      const back: Operation[] = [
        { rpc: 'NodeUnpublishVolume', v: names.v, target: names.target },
        { rpc: 'NodeUnstageVolume', v: names.v, at: names.at },
        { rpc: 'ControllerUnpublishVolume', v: names.v, node },
        { rpc: 'DeleteVolume', v: names.v },
      ];
      const all = way === 'there' ? there : way === 'back' ? back : [...there, ...back];
      return all.filter((_one, index) => keep[index]).map((operation) => ({ kind: 'call', operation }));
    });
}

/** What becomes of a snapshot and of what is restored from it, or of a group. */
function copies(ground: Ground): fc.Arbitrary<Step[]> {
  const kept = fc.nat(9).map((n) => n > 0);
  const names = fc.record({ v, from: v, s: snapshot, g, other: member, dependent: fc.boolean() });
  const asked = { range: null, groupable: true, protect: false };
  return fc
    .tuple(names, accesses(ground), fc.array(kept, { minLength: 8, maxLength: 8 }), fc.boolean())
    .map(([{ v: restored, from, s: name, g: group, other, dependent }, access, keep, grouped]) => {
      const create: Operation = { rpc: 'CreateVolume', v: from, ...asked, access: [access], source: null };
      const restore = (of: string): Operation => ({
        rpc: 'CreateVolume',
        v: restored,
        ...asked,
        access: [access],
        source: { kind: 'snapshot', of },
      });
      const single: Operation[] = [
        create,
        { rpc: 'CreateSnapshot', s: name, v: from, dependent },
        { rpc: 'DeleteVolume', v: from },
        restore(name),
        { rpc: 'DeleteSnapshot', s: name },
      ];
      const members: Operation[] = [
        create,
        { rpc: 'CreateVolumeGroupSnapshot', g: group, vs: [from] },
        { rpc: 'GetVolumeGroupSnapshot', g: group, members: [other] },
        { rpc: 'DeleteSnapshot', s: `${group}/${from}` },
        restore(`${group}/${from}`),
        { rpc: 'DeleteVolumeGroupSnapshot', g: group, members: [other] },
        { rpc: 'DeleteVolumeGroupSnapshot', g: group, members: 'own' },
      ];
      return (grouped ? members : single)
        .filter((_one, index) => keep[index])
        .map((operation) => ({ kind: 'call', operation }));
    });
}

/** Sequences of calls, some sent together, with pages of a listing and restarts in between. */
export function sequences(ground: Ground): fc.Arbitrary<Step[]> {
  const operation = operations(ground);
  const call: fc.Arbitrary<Step[]> = operation.map((one) => [{ kind: 'call', operation: one }]);
  const together: fc.Arbitrary<Step[]> = fc
    .array(operation, { minLength: 2, maxLength: 4 })
    .map((several) => [{ kind: 'together', operations: several.map(atOnce) }]);
  const page: fc.Arbitrary<Step[]> = fc
    .record({
      of: fc.constantFrom('volumes' as const, 'snapshots' as const),
      max: fc.integer({ min: 1, max: 2 }),
    })
    .map((fields) => [{ kind: 'page', ...fields }]);
  const restart: fc.Arbitrary<Step[]> = fc.boolean().map((killed) => [{ kind: 'restart', killed }]);
  const step = fc.oneof(
    { arbitrary: call, weight: 40 },
    { arbitrary: together, weight: 16 },
    { arbitrary: journeys(ground), weight: 8 },
    { arbitrary: copies(ground), weight: 5 },
    { arbitrary: page, weight: 4 },
    { arbitrary: restart, weight: 1 },
  );
  const steps = fc.array(step, { minLength: 1, maxLength: ground.longest, size: 'max' });
  // Now and then all is looked at again by a driver that has just started.
  return fc
    .tuple(
      steps,
      fc.oneof({ arbitrary: fc.constant<Step[]>([]), weight: 5 }, { arbitrary: restart, weight: 1 }),
    )
    .map(([all, last]) => [...all.flat(), ...last]);
}

/** A listing of several pages is no moment in time: beside other calls it comes in one. */
function atOnce(operation: Operation): Operation {
  return 'max' in operation ? { ...operation, max: 0 } : operation;
}
