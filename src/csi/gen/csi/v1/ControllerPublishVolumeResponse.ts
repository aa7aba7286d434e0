// Original file: proto/csi.proto


export interface ControllerPublishVolumeResponse {
  'publish_context'?: ({[key: string]: string});
}

export interface ControllerPublishVolumeResponse__Output {
  'publish_context': ({[key: string]: string});
}
