// Original file: proto/csi.proto

import type { Snapshot as _csi_v1_Snapshot, Snapshot__Output as _csi_v1_Snapshot__Output } from '../../csi/v1/Snapshot';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../google/protobuf/Timestamp';

export interface VolumeGroupSnapshot {
  'group_snapshot_id'?: (string);
  'snapshots'?: (_csi_v1_Snapshot)[];
  'creation_time'?: (_google_protobuf_Timestamp | null);
  'ready_to_use'?: (boolean);
}

export interface VolumeGroupSnapshot__Output {
  'group_snapshot_id': (string);
  'snapshots': (_csi_v1_Snapshot__Output)[];
  'creation_time': (_google_protobuf_Timestamp__Output | null);
  'ready_to_use': (boolean);
}
