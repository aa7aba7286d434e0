import {
  _csi_v1_VolumeCapability_AccessMode_Mode,
  type VolumeCapability,
} from '../csi/gen/csi/v1/VolumeCapability';

const { UNKNOWN: _none, ...modes } = _csi_v1_VolumeCapability_AccessMode_Mode;

/** csi.v1.VolumeCapability.AccessMode.Mode by name, without UNKNOWN, which no volume can have. */
export const MODE = modes;

export type Mode = keyof typeof MODE;

export interface MountOptions {
  readonly mode?: Mode;
  readonly fsType?: string;
  readonly flags?: readonly string[];
  readonly group?: string;
}

export function mount({
  mode = 'SINGLE_NODE_WRITER',
  fsType = '',
  flags = [],
  group = '',
}: MountOptions = {}) {
  return {
    mount: { fs_type: fsType, mount_flags: [...flags], volume_mount_group: group },
    access_mode: { mode: MODE[mode] },
  } satisfies VolumeCapability;
}

export function block(mode: Mode = 'SINGLE_NODE_WRITER') {
  return { block: {}, access_mode: { mode: MODE[mode] } } satisfies VolumeCapability;
}

/** A filesystem that no driver can have. */
export const NO_FILESYSTEM = 'no-such-filesystem';
