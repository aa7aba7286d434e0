import type { ClientRequestOf } from '../../csi/rpcs';
import type { AccessMode, VolumeMode } from '../objects';
import type { VolumeSpec } from '../volumemanager/spec';
import type { CallContext, CsiCalls } from './calls';

/** Numbers of csi.v1 NodeServiceCapability.RPC.Type. */
export const NODE = {
  STAGE_UNSTAGE_VOLUME: 1,
  GET_VOLUME_STATS: 2,
  EXPAND_VOLUME: 3,
  SINGLE_NODE_MULTI_WRITER: 5,
  VOLUME_MOUNT_GROUP: 6,
} as const;

/** Asks anew each time: the kubelet keeps no capability from one question to the next. @throws CsiError */
export async function nodeHas(
  calls: CsiCalls,
  context: CallContext,
  which: keyof typeof NODE,
): Promise<boolean> {
  const { capabilities } = await calls.call('NodeGetCapabilities', {}, context);
  return capabilities.some(({ rpc }) => rpc?.type === NODE[which]);
}

/** Numbers of csi.v1 VolumeCapability.AccessMode.Mode. */
const MODE: Readonly<Record<AccessMode, { plain: number; withMultiWriter: number }>> = {
  ReadWriteOnce: { plain: 1, withMultiWriter: 7 },
  ReadOnlyMany: { plain: 3, withMultiWriter: 3 },
  ReadWriteMany: { plain: 5, withMultiWriter: 5 },
  ReadWriteOncePod: { plain: 1, withMultiWriter: 6 },
};

type Capability = NonNullable<ClientRequestOf<'NodeStageVolume'>['volume_capability']>;

/** Of the first access mode alone; `multiWriter`: the plugin has SINGLE_NODE_MULTI_WRITER. */
export function accessModeOf(
  modes: readonly AccessMode[],
  multiWriter: boolean,
): NonNullable<Capability['access_mode']> {
  const mode = MODE[modes[0] ?? 'ReadWriteOnce'];
  return { mode: (multiWriter ? mode.withMultiWriter : mode.plain) as 1 };
}

/** Of a PersistentVolume as controllers ask for it. */
export function volumeCapability(
  {
    volumeMode,
    fsType,
    mountOptions,
  }: { volumeMode: VolumeMode; fsType: string; mountOptions: readonly string[] },
  modes: readonly AccessMode[],
): Capability {
  const access_mode = accessModeOf(modes, false);
  if (volumeMode === 'Block') return { block: {}, access_mode };
  return { mount: { fs_type: fsType, mount_flags: [...mountOptions] }, access_mode };
}

/** Of a raw block volume: no filesystem, no flags, no group. */
export function blockCapability({ accessModes }: VolumeSpec, multiWriter: boolean): Capability {
  return { block: {}, access_mode: accessModeOf(accessModes, multiWriter) };
}

export function mountCapability(spec: VolumeSpec, multiWriter: boolean, mountGroup: string): Capability {
  return {
    mount: {
      // Verbatim from the PersistentVolume: the kubelet has no default.
      fs_type: spec.fsType,
      mount_flags: [...spec.mountOptions],
      ...(mountGroup !== '' && { volume_mount_group: mountGroup }),
    },
    access_mode: accessModeOf(spec.accessModes, multiWriter),
  };
}
