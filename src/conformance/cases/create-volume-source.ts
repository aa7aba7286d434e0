import type { Case } from '../case';
import type { Probe } from '../probe';

/** A volume or a snapshot that volumes can be made from, of the size of an ordinary volume. */
async function source(probe: Probe) {
  const { id } = await probe.volume();
  if (probe.serves('CreateSnapshot'))
    return { snapshot: { snapshot_id: (await probe.snapshot(id)).snapshot_id } };
  if (probe.has('controller.CLONE_VOLUME')) return { volume: { volume_id: id } };
  return probe.skip('volumes are made from no source');
}

/** CreateVolume from a snapshot or from another volume. */
export const sourceCases: readonly Omit<Case, 'rpc'>[] = [
  {
    id: 'C31',
    level: 'must',
    section: 'CreateVolume Errors',
    title:
      'a source whose capability is not advertised (CREATE_DELETE_SNAPSHOT, CLONE_VOLUME): INVALID_ARGUMENT',
    run: async (probe) => {
      const snapshots = probe.has('controller.CREATE_DELETE_SNAPSHOT');
      const clones = probe.has('controller.CLONE_VOLUME');
      if (snapshots && clones) probe.skip('both sources are advertised');
      const { id } = await probe.volume();
      for (const volume_content_source of [
        ...(clones ? [] : [{ volume: { volume_id: id } }]),
        ...(snapshots ? [] : [{ snapshot: { snapshot_id: 'unknown' } }]),
      ])
        await probe.refused('CreateVolume', probe.creation({ volume_content_source }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C32',
    level: 'must',
    section: 'VolumeContentSource',
    title: 'a content source of no type, or of an empty id: INVALID_ARGUMENT',
    run: async (probe) => {
      for (const volume_content_source of [
        {},
        { snapshot: { snapshot_id: '' } },
        { volume: { volume_id: '' } },
      ])
        await probe.refused('CreateVolume', probe.creation({ volume_content_source }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C33',
    level: 'must',
    section: 'CreateVolume Errors',
    title: 'limit_bytes below the size of the source: OUT_OF_RANGE',
    run: async (probe) => {
      const volume_content_source = await source(probe);
      const capacity_range = { limit_bytes: `${probe.size / 2n}` };
      await probe.refused(
        'CreateVolume',
        probe.creation({ volume_content_source, capacity_range }),
        'OUT_OF_RANGE',
      );
    },
  },
  {
    id: 'C34',
    level: 'allowed',
    section: 'CreateVolume',
    title: 'required_bytes above the size of the source: OUT_OF_RANGE, or OK and as large as that',
    run: async (probe) => {
      const volume_content_source = await source(probe);
      const wanted = probe.size * 2n;
      const capacity_range = { required_bytes: `${wanted}` };
      const answer = await probe.call(
        'CreateVolume',
        probe.creation({ volume_content_source, capacity_range }),
      );
      if (answer.code !== 'OK') return probe.isRefused(answer, 'OUT_OF_RANGE');
      const bytes = BigInt(answer.response?.volume?.capacity_bytes ?? 0);
      probe.that(bytes >= wanted, `${wanted} bytes or more`, `${bytes}`);
    },
  },
  {
    id: 'C36',
    level: 'decision',
    section: 'CreateSnapshot',
    needs: ['hint slowSnapshot', 'controller.CREATE_DELETE_SNAPSHOT'],
    title: 'from a snapshot that is not ready to use: refused',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { snapshot_id, ready_to_use } = await probe.snapshot(id, probe.hints.slowSnapshot);
      if (ready_to_use) probe.skip('the snapshot was ready at once');
      const volume_content_source = { snapshot: { snapshot_id } };
      await probe.refused('CreateVolume', probe.creation({ volume_content_source }), 'any refusal');
    },
  },
  {
    id: 'C35',
    level: 'must',
    section: 'CreateVolume Errors',
    title: 'a source that is not there: NOT_FOUND',
    run: async (probe) => {
      const sources = [
        ...(probe.has('controller.CREATE_DELETE_SNAPSHOT')
          ? [{ snapshot: { snapshot_id: 'conformance-unknown-snapshot' } }]
          : []),
        ...(probe.has('controller.CLONE_VOLUME')
          ? [{ volume: { volume_id: 'conformance-unknown-volume' } }]
          : []),
      ];
      if (sources.length === 0) probe.skip('volumes are made from no source');
      for (const volume_content_source of sources)
        await probe.refused('CreateVolume', probe.creation({ volume_content_source }), 'NOT_FOUND');
    },
  },
];
