import { createHash } from 'node:crypto';
import type { AccessType } from '../backends/backend';
import type { VolumeCapability__Output } from '../csi/gen/csi/v1/VolumeCapability';
import { _csi_v1_VolumeCapability_AccessMode_Mode as Mode } from '../csi/gen/csi/v1/VolumeCapability';
import { invalidArgument } from '../csi/status';
import type { CapabilityRecord, VolumeRecord } from '../volumes/records';
import { backendOf, type Env } from './env';

const MULTI_NODE: ReadonlySet<number> = new Set([
  Mode.MULTI_NODE_READER_ONLY,
  Mode.MULTI_NODE_SINGLE_WRITER,
  Mode.MULTI_NODE_MULTI_WRITER,
]);
const READER_ONLY: ReadonlySet<number> = new Set([Mode.SINGLE_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY]);

/** May be published to several nodes at once. */
export const isMultiNode = (mode: number) => MULTI_NODE.has(mode);
export const isReaderOnly = (mode: number) => READER_ONLY.has(mode);
/** May have several targets on one node (CSI 1.12, NodePublishVolume, second-call table). */
export const isMultiTarget = (mode: number) => MULTI_NODE.has(mode) || mode === Mode.SINGLE_NODE_MULTI_WRITER;

/** A digest that tells whether two values are the same without keeping them. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}

/** The same for a map, whatever the order of its keys. */
export function digestMap(map: Record<string, string>): string {
  return digest(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** A capability that passed the field rules, as it is kept. */
export function recordOf(capability: VolumeCapability__Output): CapabilityRecord {
  const accessMode = capability.access_mode?.mode ?? Mode.UNKNOWN;
  if (capability.mount) {
    const flags = capability.mount.mount_flags;
    return {
      accessType: 'mount',
      accessMode,
      fsType: capability.mount.fs_type,
      mountFlags: digest(flags),
      mountGroup: capability.mount.volume_mount_group,
      readOnly: isReaderOnly(accessMode) || asksReadOnly(flags),
    };
  }
  return {
    accessType: 'block',
    accessMode,
    fsType: '',
    mountFlags: digest([]),
    mountGroup: '',
    readOnly: isReaderOnly(accessMode),
  };
}

/** Whether the last of the mount options `ro` and `rw` is `ro`, as a PersistentVolume's mountOptions may have it. */
function asksReadOnly(flags: readonly string[]): boolean {
  const words = flags.flatMap((flag) => flag.split(',')).filter((word) => word === 'ro' || word === 'rw');
  return words.at(-1) === 'ro';
}

/** For callers that already know the field rules were kept: the capability must be there. */
export function requireCapability(capability: VolumeCapability__Output | null): VolumeCapability__Output {
  if (!capability) throw invalidArgument('volume_capability: expected a capability, found nothing');
  return capability;
}

export function sameCapability(a: CapabilityRecord, b: CapabilityRecord): boolean {
  return (
    a.accessType === b.accessType &&
    a.accessMode === b.accessMode &&
    a.fsType === b.fsType &&
    a.mountFlags === b.mountFlags &&
    a.mountGroup === b.mountGroup
  );
}

/** Why a volume cannot serve a capability; undefined when it can. */
export function unservable(env: Env, volume: VolumeRecord, capability: CapabilityRecord): string | undefined {
  const accessType: AccessType = capability.accessType;
  if (!volume.accessTypes.includes(accessType))
    return `volume ${volume.id} was created for access type ${volume.accessTypes.join(' and ')}, not ${accessType}`;
  const backend = backendOf(env, volume);
  if (!backend.accessTypes.includes(accessType))
    return `backend ${volume.backend} has no ${accessType} volumes, only ${backend.accessTypes.join(' and ')}`;
  if (accessType === 'mount' && capability.fsType !== '') {
    try {
      backend.chooseFsType(capability.fsType);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return undefined;
}
