// Original file: proto/csi.proto


export interface ControllerGetVolumeRequest {
  'volume_id'?: (string);
}

export interface ControllerGetVolumeRequest__Output {
  'volume_id': (string);
}
