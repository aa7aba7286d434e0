import type {
  _csi_v1_VolumeContentSource_SnapshotSource__Output as SnapshotSource,
  VolumeContentSource__Output,
  _csi_v1_VolumeContentSource_VolumeSource__Output as VolumeSource,
} from '../../csi/gen/csi/v1/VolumeContentSource';
import { allOf, type Check, invalid, message, onlyWith } from './check';
import { id } from './text';

const snapshotSource = allOf(
  onlyWith<SnapshotSource>('controller', 'CREATE_DELETE_SNAPSHOT', () => true),
  message<SnapshotSource>({ snapshot_id: id }),
);

const volumeSource = allOf(
  onlyWith<VolumeSource>('controller', 'CLONE_VOLUME', () => true),
  message<VolumeSource>({ volume_id: id }),
);

export const contentSource: Check<VolumeContentSource__Output> = (source, at, config) => {
  if (!source.snapshot === !source.volume) {
    throw invalid(at, 'exactly one of snapshot and volume', source.snapshot ? 'both' : 'neither');
  }
  if (source.snapshot) snapshotSource(source.snapshot, `${at}.snapshot`, config);
  if (source.volume) volumeSource(source.volume, `${at}.volume`, config);
};
