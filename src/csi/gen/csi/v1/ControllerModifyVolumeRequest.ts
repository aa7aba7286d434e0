// Original file: proto/csi.proto


export interface ControllerModifyVolumeRequest {
  'volume_id'?: (string);
  'secrets'?: ({[key: string]: string});
  'mutable_parameters'?: ({[key: string]: string});
}

export interface ControllerModifyVolumeRequest__Output {
  'volume_id': (string);
  'secrets': ({[key: string]: string});
  'mutable_parameters': ({[key: string]: string});
}
