import { casesOf } from '../case';

export const controllerUnpublish = casesOf('Controller.ControllerUnpublishVolume', [
  {
    id: 'U01',
    level: 'should',
    section: 'ControllerUnpublishVolume',
    title: 'not attached, an unknown node, an unknown volume: OK each',
    run: async (probe) => {
      const { id } = await probe.volume();
      for (const [volume_id, node_id] of [
        [id, probe.nodeId],
        [id, 'conformance-unknown-node'],
        ['conformance-unknown-volume', probe.nodeId],
      ] as const)
        await probe.ok('ControllerUnpublishVolume', { volume_id, node_id }, 'there is nothing to detach');
    },
  },
  {
    id: 'U02',
    level: 'must',
    section: 'ControllerUnpublishVolumeRequest',
    title: 'an empty node_id: detached from every node, so that it can be deleted',
    run: async (probe) => {
      const volume = await probe.volume();
      await probe.attach(volume);
      await probe.ok('ControllerUnpublishVolume', { volume_id: volume.id });
      await probe.ok('DeleteVolume', { volume_id: volume.id });
    },
  },
]);
