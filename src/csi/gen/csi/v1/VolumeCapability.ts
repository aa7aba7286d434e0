// Original file: proto/csi.proto


export interface _csi_v1_VolumeCapability_AccessMode {
  'mode'?: (_csi_v1_VolumeCapability_AccessMode_Mode);
}

export interface _csi_v1_VolumeCapability_AccessMode__Output {
  'mode': (_csi_v1_VolumeCapability_AccessMode_Mode__Output);
}

export interface _csi_v1_VolumeCapability_BlockVolume {
}

export interface _csi_v1_VolumeCapability_BlockVolume__Output {
}

// Original file: proto/csi.proto

export const _csi_v1_VolumeCapability_AccessMode_Mode = {
  UNKNOWN: 0,
  SINGLE_NODE_WRITER: 1,
  SINGLE_NODE_READER_ONLY: 2,
  MULTI_NODE_READER_ONLY: 3,
  MULTI_NODE_SINGLE_WRITER: 4,
  MULTI_NODE_MULTI_WRITER: 5,
  SINGLE_NODE_SINGLE_WRITER: 6,
  SINGLE_NODE_MULTI_WRITER: 7,
} as const;

export type _csi_v1_VolumeCapability_AccessMode_Mode =
  | 'UNKNOWN'
  | 0
  | 'SINGLE_NODE_WRITER'
  | 1
  | 'SINGLE_NODE_READER_ONLY'
  | 2
  | 'MULTI_NODE_READER_ONLY'
  | 3
  | 'MULTI_NODE_SINGLE_WRITER'
  | 4
  | 'MULTI_NODE_MULTI_WRITER'
  | 5
  | 'SINGLE_NODE_SINGLE_WRITER'
  | 6
  | 'SINGLE_NODE_MULTI_WRITER'
  | 7

export type _csi_v1_VolumeCapability_AccessMode_Mode__Output = typeof _csi_v1_VolumeCapability_AccessMode_Mode[keyof typeof _csi_v1_VolumeCapability_AccessMode_Mode]

export interface _csi_v1_VolumeCapability_MountVolume {
  'fs_type'?: (string);
  'mount_flags'?: (string)[];
  'volume_mount_group'?: (string);
}

export interface _csi_v1_VolumeCapability_MountVolume__Output {
  'fs_type': (string);
  'mount_flags': (string)[];
  'volume_mount_group': (string);
}

export interface VolumeCapability {
  'block'?: (_csi_v1_VolumeCapability_BlockVolume | null);
  'mount'?: (_csi_v1_VolumeCapability_MountVolume | null);
  'access_mode'?: (_csi_v1_VolumeCapability_AccessMode | null);
  'access_type'?: "block"|"mount";
}

export interface VolumeCapability__Output {
  'block'?: (_csi_v1_VolumeCapability_BlockVolume__Output | null);
  'mount'?: (_csi_v1_VolumeCapability_MountVolume__Output | null);
  'access_mode': (_csi_v1_VolumeCapability_AccessMode__Output | null);
  'access_type'?: "block"|"mount";
}
