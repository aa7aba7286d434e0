import type { VolumeCapability } from '../csi/gen/csi/v1/VolumeCapability';

/** csi.v1.VolumeCapability.AccessMode.Mode by name. */
export const MODE = {
  SINGLE_NODE_WRITER: 1,
  SINGLE_NODE_READER_ONLY: 2,
  MULTI_NODE_READER_ONLY: 3,
  MULTI_NODE_SINGLE_WRITER: 4,
  MULTI_NODE_MULTI_WRITER: 5,
  SINGLE_NODE_SINGLE_WRITER: 6,
  SINGLE_NODE_MULTI_WRITER: 7,
} as const;

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
