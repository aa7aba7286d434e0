import { casesOf } from '../case';

const UNKNOWN = 'conformance-unknown-snapshot';

export const snapshotMetadataService = casesOf('SnapshotMetadata.(service)', [
  {
    id: 'SM14',
    level: 'must',
    section: 'GetPluginCapabilities',
    needs: ['no plugin.SNAPSHOT_METADATA_SERVICE'],
    title: 'SNAPSHOT_METADATA_SERVICE is not advertised: both RPCs are UNIMPLEMENTED',
    run: async (probe) => {
      const allocated = await probe.send('GetMetadataAllocated', { snapshot_id: UNKNOWN });
      probe.isRefused(allocated, 'UNIMPLEMENTED');
      const ids = { base_snapshot_id: UNKNOWN, target_snapshot_id: 'other' };
      probe.isRefused(await probe.send('GetMetadataDelta', ids), 'UNIMPLEMENTED');
    },
  },
]);
