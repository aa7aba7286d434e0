// Original file: proto/csi.proto

import type { Int64Value as _google_protobuf_Int64Value, Int64Value__Output as _google_protobuf_Int64Value__Output } from '../../google/protobuf/Int64Value';
import type { Long } from '@grpc/proto-loader';

export interface GetCapacityResponse {
  'available_capacity'?: (number | string | Long);
  'maximum_volume_size'?: (_google_protobuf_Int64Value | null);
  'minimum_volume_size'?: (_google_protobuf_Int64Value | null);
}

export interface GetCapacityResponse__Output {
  'available_capacity': (string);
  'maximum_volume_size': (_google_protobuf_Int64Value__Output | null);
  'minimum_volume_size': (_google_protobuf_Int64Value__Output | null);
}
