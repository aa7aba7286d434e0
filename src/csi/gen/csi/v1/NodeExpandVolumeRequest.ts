// Original file: proto/csi.proto

import type { CapacityRange as _csi_v1_CapacityRange, CapacityRange__Output as _csi_v1_CapacityRange__Output } from '../../csi/v1/CapacityRange';
import type { VolumeCapability as _csi_v1_VolumeCapability, VolumeCapability__Output as _csi_v1_VolumeCapability__Output } from '../../csi/v1/VolumeCapability';

export interface NodeExpandVolumeRequest {
  'volume_id'?: (string);
  'volume_path'?: (string);
  'capacity_range'?: (_csi_v1_CapacityRange | null);
  'staging_target_path'?: (string);
  'volume_capability'?: (_csi_v1_VolumeCapability | null);
  'secrets'?: ({[key: string]: string});
}

export interface NodeExpandVolumeRequest__Output {
  'volume_id': (string);
  'volume_path': (string);
  'capacity_range': (_csi_v1_CapacityRange__Output | null);
  'staging_target_path': (string);
  'volume_capability': (_csi_v1_VolumeCapability__Output | null);
  'secrets': ({[key: string]: string});
}
