import type { CapabilityKind } from '../../src/csi/capabilities';
import { type CsiMethod, methods, rpcs } from '../../src/csi/rpcs';
import { CAPABILITIES } from '../../src/services/capabilities';
import { outcome, protocol, refusal } from './harness';
import { minimal } from './requests';

/** What must go together with a capability, lest the set be refused at start. */
const TOGETHER: Record<string, string> = {
  'controller.PUBLISH_UNPUBLISH_VOLUME':
    '-controller.LIST_VOLUMES_PUBLISHED_NODES,-controller.PUBLISH_READONLY,',
};

/** Each capability that opens RPCs alone, and the RPCs that are closed without it. */
const gates = (Object.keys(CAPABILITIES) as CapabilityKind[]).flatMap((kind) =>
  Object.keys(CAPABILITIES[kind]).flatMap((name) => {
    const closed = methods.filter((method) =>
      rpcs[method].gates.some((gate) => gate.kind === kind && gate.anyOf.join() === name),
    );
    return closed.length > 0 ? [[`${kind}.${name}`, closed] as const] : [];
  }),
);

protocol('T01 an RPC that is not advertised', (bench) => {
  test('the gates are those of the specification', () => {
    expect(Object.fromEntries(gates)).toEqual({
      'plugin.CONTROLLER_SERVICE': methods.filter((method) => rpcs[method].service === 'Controller'),
      'plugin.GROUP_CONTROLLER_SERVICE': methods.filter(
        (method) => rpcs[method].service === 'GroupController',
      ),
      'plugin.SNAPSHOT_METADATA_SERVICE': ['GetMetadataAllocated', 'GetMetadataDelta'],
      'controller.CREATE_DELETE_VOLUME': ['CreateVolume', 'DeleteVolume'],
      'controller.PUBLISH_UNPUBLISH_VOLUME': ['ControllerPublishVolume', 'ControllerUnpublishVolume'],
      'controller.LIST_VOLUMES': ['ListVolumes'],
      'controller.GET_CAPACITY': ['GetCapacity'],
      'controller.CREATE_DELETE_SNAPSHOT': ['CreateSnapshot', 'DeleteSnapshot'],
      'controller.LIST_SNAPSHOTS': ['ListSnapshots'],
      'controller.GET_SNAPSHOT': ['GetSnapshot'],
      'controller.EXPAND_VOLUME': ['ControllerExpandVolume'],
      'controller.GET_VOLUME': ['ControllerGetVolume'],
      'controller.MODIFY_VOLUME': ['ControllerModifyVolume'],
      'node.STAGE_UNSTAGE_VOLUME': ['NodeStageVolume', 'NodeUnstageVolume'],
      'node.EXPAND_VOLUME': ['NodeExpandVolume'],
      'group.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT': [
        'CreateVolumeGroupSnapshot',
        'DeleteVolumeGroupSnapshot',
        'GetVolumeGroupSnapshot',
      ],
    });
  });

  /** Empty, well-formed, and broken in every field: the answer is the same. */
  const everyRequest = (method: CsiMethod) => [
    {},
    minimal[method],
    Object.fromEntries(Object.keys(minimal[method]).map((field) => [field, undefined])),
  ];

  test.each(gates)(
    'without %s: UNIMPLEMENTED before any validation, and the others stay',
    async (name, closed) => {
      const { csi } = await bench.start({ capabilities: `${TOGETHER[name] ?? ''}-${name}` });
      for (const method of closed)
        for (const request of everyRequest(method)) {
          const { code, message } = await refusal(csi[method](request as never));
          expect([method, code]).toEqual([method, 'UNIMPLEMENTED']);
          expect(message).toContain(method);
        }
      for (const method of methods.filter((other) => !closed.includes(other as never)))
        expect([method, await outcome(csi[method](minimal[method] as never))]).not.toContain('UNIMPLEMENTED');
    },
  );

  test('NodeGetVolumeStats is closed only when both of its capabilities are off', async () => {
    const off = await bench.start({ capabilities: '-GET_VOLUME_STATS,-node.VOLUME_CONDITION' });
    expect(await outcome(off.csi.NodeGetVolumeStats())).toBe('UNIMPLEMENTED');
    for (const capabilities of ['-GET_VOLUME_STATS', '-node.VOLUME_CONDITION']) {
      const { csi } = await bench.start({ capabilities });
      expect(await outcome(csi.NodeGetVolumeStats())).toBe('INVALID_ARGUMENT');
    }
  });

  test.each(['node', 'controller'] as const)(
    '--services %s: the RPCs of the other services are UNIMPLEMENTED',
    async (profile) => {
      const { csi } = await bench.start({ profile, nodeId: 'other' });
      for (const method of methods) {
        const { service } = rpcs[method];
        const served = service === 'Identity' || (service === 'Node') === (profile === 'node');
        const code = await outcome(csi[method](minimal[method] as never));
        expect([method, code === 'UNIMPLEMENTED']).toEqual([method, !served]);
        if (!served) expect(await outcome(csi[method]({} as never))).toBe('UNIMPLEMENTED');
      }
    },
  );

  test('with nothing on: what has no gate still answers', async () => {
    const { csi } = await bench.start({ capabilities: 'none' });
    const open: CsiMethod[] = [
      'GetPluginInfo',
      'GetPluginCapabilities',
      'Probe',
      'NodePublishVolume',
      'NodeUnpublishVolume',
      'NodeGetCapabilities',
      'NodeGetInfo',
    ];
    for (const method of methods) {
      const code = await outcome(csi[method](minimal[method] as never));
      expect([method, code === 'UNIMPLEMENTED']).toEqual([method, !open.includes(method)]);
    }
  });
});
