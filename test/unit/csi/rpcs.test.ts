import type { MethodDefinition } from '@grpc/proto-loader';
import { type Capabilities, closedGate } from '../../../src/csi/capabilities';
import { alphaMethods, schemaEnums, schemaMessages } from '../../../src/csi/gen/schema';
import { loadCsi } from '../../../src/csi/load';
import type { ClientResponseOf, RequestOf, ResponseOf } from '../../../src/csi/rpcs';
import { type CsiMethod, isMethod, methods, rpcs, subjectOf } from '../../../src/csi/rpcs';

const definitions = loadCsi();

describe('the RPC table and csi.proto', () => {
  const inProto = Object.entries(definitions).flatMap(([service, definition]) =>
    Object.entries<MethodDefinition<object, object>>(definition).map(
      ([method, { path, requestStream, responseStream }]) => ({
        service,
        method,
        path,
        requestStream,
        responseStream,
      }),
    ),
  );

  test('have the same 32 methods in the same services, at the same paths, streaming alike', () => {
    const inTable = methods.map((method) => {
      const { service, path, serverStreaming } = rpcs[method];
      return { service, method, path, requestStream: false, responseStream: serverStreaming };
    });
    const byPath = (a: { path: string }, b: { path: string }) => a.path.localeCompare(b.path);
    expect(inTable.sort(byPath)).toEqual(inProto.sort(byPath));
    expect(inTable).toHaveLength(32);
  });

  test.each(methods)('%s names the messages that the definition carries', (method) => {
    const rpc = rpcs[method];
    const definition = Object.values(definitions).find((one) => method in one)?.[method];
    expect([
      `csi.v1.${definition.requestType.type.name}`,
      `csi.v1.${definition.responseType.type.name}`,
    ]).toEqual([rpc.requestType, rpc.responseType]);
    expect(schemaMessages).toHaveProperty([rpc.requestType]);
    expect(schemaMessages).toHaveProperty([rpc.responseType]);
  });

  test.each(methods)('%s reads its subject from fields of the right shape', (method) => {
    for (const [part, field] of Object.entries(rpcs[method].subject)) {
      const known = schemaMessages[rpcs[method].requestType]?.fields[field];
      expect(known).toMatchObject({ type: 'string', kind: 'scalar' });
      expect(known?.label).toBe(part.endsWith('Ids') ? 'repeated' : undefined);
    }
  });

  test('every id, name and path of a request is somewhere in the subject', () => {
    const notSubject = ['starting_token'];
    for (const method of methods) {
      const fields = Object.entries(schemaMessages[rpcs[method].requestType]?.fields ?? {})
        .filter(
          ([name, field]) => field.type === 'string' && field.label !== 'map' && !notSubject.includes(name),
        )
        .map(([name]) => name);
      expect([method, Object.values(rpcs[method].subject).sort()]).toEqual([method, fields.sort()]);
    }
  });

  test('alpha methods are those marked alpha', () => {
    const marked = methods
      .filter((method) => rpcs[method].alpha)
      .map((m) => `csi.v1.${rpcs[m].service}/${m}`);
    expect(marked.sort()).toEqual([...alphaMethods].sort());
  });

  test('every capability opens something, or only changes how a method behaves', () => {
    const enums = {
      plugin: ['csi.v1.PluginCapability.Service.Type', 'csi.v1.PluginCapability.VolumeExpansion.Type'],
      controller: ['csi.v1.ControllerServiceCapability.RPC.Type'],
      group: ['csi.v1.GroupControllerServiceCapability.RPC.Type'],
      node: ['csi.v1.NodeServiceCapability.RPC.Type'],
    };
    const known = Object.entries(enums).flatMap(([kind, names]) =>
      names.flatMap((name) => Object.keys(schemaEnums[name] ?? {}).map((value) => `${kind} ${value}`)),
    );
    const gating = methods.flatMap((m) =>
      rpcs[m].gates.flatMap((g) => g.anyOf.map((name) => `${g.kind} ${name}`)),
    );
    expect(known).toEqual(expect.arrayContaining(gating));
    expect(known.filter((name) => !gating.includes(name) && !name.endsWith('UNKNOWN')).sort()).toEqual([
      'controller CLONE_VOLUME',
      'controller LIST_VOLUMES_PUBLISHED_NODES',
      'controller PUBLISH_READONLY',
      'controller SINGLE_NODE_MULTI_WRITER',
      'controller VOLUME_CONDITION',
      'node SINGLE_NODE_MULTI_WRITER',
      'node VOLUME_MOUNT_GROUP',
      'plugin OFFLINE',
      'plugin ONLINE',
      'plugin VOLUME_ACCESSIBILITY_CONSTRAINTS',
    ]);
  });

  test('reading RPCs are told from changing ones', () => {
    expect(methods.filter((method) => !rpcs[method].mutating).sort()).toEqual([
      'ControllerGetCapabilities',
      'ControllerGetVolume',
      'GetCapacity',
      'GetMetadataAllocated',
      'GetMetadataDelta',
      'GetPluginCapabilities',
      'GetPluginInfo',
      'GetSnapshot',
      'GetVolumeGroupSnapshot',
      'GroupControllerGetCapabilities',
      'ListSnapshots',
      'ListVolumes',
      'NodeGetCapabilities',
      'NodeGetInfo',
      'NodeGetVolumeStats',
      'Probe',
      'ValidateVolumeCapabilities',
    ]);
  });
});

describe('closedGate', () => {
  const none: ReadonlySet<string> = new Set();
  const nothing: Capabilities = { plugin: none, controller: none, group: none, node: none };
  const advertised = (kind: keyof Capabilities, ...names: string[]): Capabilities => ({
    ...nothing,
    [kind]: new Set(names),
  });

  test.each(['GET_VOLUME_STATS', 'VOLUME_CONDITION'])('NodeGetVolumeStats is open with %s alone', (name) => {
    expect(closedGate(rpcs.NodeGetVolumeStats.gates, advertised('node', name))).toBeUndefined();
  });

  test('names the capabilities that would open it', () => {
    expect(closedGate(rpcs.NodeGetVolumeStats.gates, nothing)).toEqual({
      kind: 'node',
      anyOf: ['GET_VOLUME_STATS', 'VOLUME_CONDITION'],
    });
  });

  test('the service comes before the RPC', () => {
    expect(closedGate(rpcs.CreateVolume.gates, advertised('controller', 'CREATE_DELETE_VOLUME'))).toEqual({
      kind: 'plugin',
      anyOf: ['CONTROLLER_SERVICE'],
    });
    const both = {
      ...advertised('controller', 'CREATE_DELETE_VOLUME'),
      plugin: new Set(['CONTROLLER_SERVICE']),
    };
    expect(closedGate(rpcs.CreateVolume.gates, both)).toBeUndefined();
  });

  test('a name of another kind opens nothing', () => {
    expect(closedGate(rpcs.NodeExpandVolume.gates, advertised('controller', 'EXPAND_VOLUME'))).toBeDefined();
  });

  test('what every plugin serves has no gate', () => {
    const open = methods.filter((method) => rpcs[method].gates.length === 0);
    expect(open.sort()).toEqual([
      'GetPluginCapabilities',
      'GetPluginInfo',
      'NodeGetCapabilities',
      'NodeGetInfo',
      'NodePublishVolume',
      'NodeUnpublishVolume',
      'Probe',
    ]);
  });
});

describe('subjectOf', () => {
  const decode = <M extends CsiMethod>(method: M, fields: object): RequestOf<M> => {
    const definition = definitions[rpcs[method].service][method];
    return definition.requestDeserialize(definition.requestSerialize(fields)) as RequestOf<M>;
  };

  test('reads what is there and omits what is empty', () => {
    const request = decode('NodePublishVolume', { volume_id: 'v1', target_path: '/t' });
    expect(subjectOf('NodePublishVolume', request)).toEqual({ volumeId: 'v1', targetPath: '/t' });
  });

  test('keeps lists as lists', () => {
    const request = decode('CreateVolumeGroupSnapshot', { name: 'g', source_volume_ids: ['a', 'b'] });
    expect(subjectOf('CreateVolumeGroupSnapshot', request)).toEqual({ name: 'g', volumeIds: ['a', 'b'] });
  });

  test('tells the two snapshots of a delta apart', () => {
    const request = decode('GetMetadataDelta', { base_snapshot_id: 'old', target_snapshot_id: 'new' });
    expect(subjectOf('GetMetadataDelta', request)).toEqual({ baseSnapshotId: 'old', snapshotId: 'new' });
  });
});

test('isMethod knows methods and nothing of Object.prototype', () => {
  expect(isMethod('Probe')).toBe(true);
  expect(['probe', 'toString', '__proto__', ''].filter(isMethod)).toEqual([]);
});

test('message types are those of the method', () => {
  // The assignments are the test: tsc refuses them when a mapped type collapses to never or any.
  const request: Pick<RequestOf<'NodeStageVolume'>, 'staging_target_path'> = { staging_target_path: '/s' };
  const response: ResponseOf<'ControllerExpandVolume'> = {
    capacity_bytes: '1',
    node_expansion_required: true,
  };
  const seen: Pick<ClientResponseOf<'ControllerExpandVolume'>, 'capacity_bytes'> = { capacity_bytes: '1' };
  // @ts-expect-error a request has no field of another message
  const wrong: Pick<RequestOf<'NodeStageVolume'>, 'target_path'> = request;
  expect(wrong).toEqual(request);
  expect(response.capacity_bytes).toBe(seen.capacity_bytes);
});
