// Original file: proto/csi.proto


export interface CreateVolumeGroupSnapshotRequest {
  'name'?: (string);
  'source_volume_ids'?: (string)[];
  'secrets'?: ({[key: string]: string});
  'parameters'?: ({[key: string]: string});
}

export interface CreateVolumeGroupSnapshotRequest__Output {
  'name': (string);
  'source_volume_ids': (string)[];
  'secrets': ({[key: string]: string});
  'parameters': ({[key: string]: string});
}
