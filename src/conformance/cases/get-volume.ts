import { casesOf } from '../case';

export const getVolume = casesOf('Controller.ControllerGetVolume', [
  {
    id: 'G02',
    level: 'must',
    section: 'ControllerGetVolumeResponse',
    title: 'a known id: the volume, and a status with nodes and condition as advertised',
    run: async (probe) => {
      const made = await probe.volume();
      await probe.attach(made);
      const { volume, status } = await probe.ok('ControllerGetVolume', { volume_id: made.id });
      probe.same(volume?.volume_id, made.id, 'volume_id');
      probe.that(status !== null, 'a status', { status });
      if (probe.has('controller.LIST_VOLUMES_PUBLISHED_NODES'))
        probe.same(status?.published_node_ids, [probe.nodeId], 'published_node_ids');
      if (probe.has('controller.VOLUME_CONDITION'))
        probe.that((status?.volume_condition?.message ?? '') !== '', 'a condition with a message', status);
    },
  },
  {
    id: 'G01',
    level: 'must',
    section: 'ControllerGetVolume Errors',
    title: 'an empty id: INVALID_ARGUMENT; an unknown one, or that of a deleted volume: NOT_FOUND',
    run: async (probe) => {
      await probe.refused('ControllerGetVolume', { volume_id: '' }, 'INVALID_ARGUMENT');
      const { id } = await probe.volume();
      await probe.ok('DeleteVolume', { volume_id: id });
      for (const volume_id of ['conformance-unknown-volume', id])
        await probe.refused('ControllerGetVolume', { volume_id }, 'NOT_FOUND');
    },
  },
]);
