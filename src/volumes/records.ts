import type { AccessType, BackendName } from '../backends/backend';

/** Version of every file below. Sizes in them are decimal strings: JSON has no int64. */
export const RECORD_VERSION = 1;

export type Segments = Record<string, string>;

/**
 * `created`: by CreateVolume. `static`: a PersistentVolume whose volumeAttributes carry a `size`; made when first used.
 * `ephemeral`: inline in a pod; made at publish, gone at unpublish.
 */
export type VolumeOrigin = 'created' | 'static' | 'ephemeral';

export interface ContentSource {
  kind: 'snapshot' | 'volume';
  id: string;
  /** Of a snapshot: when it was made. Ids follow from names, so that a later one may have the same. */
  createdAt?: string;
}

/** A volume capability as far as two of them can differ. */
export interface CapabilityRecord {
  accessType: AccessType;
  /** csi.v1.VolumeCapability.AccessMode.Mode */
  accessMode: number;
  fsType: string;
  /** Digest of the mount flags: they may hold a password, so they are never written down themselves. */
  mountFlags: string;
  mountGroup: string;
  /** The access mode, or the mount flag `ro`, lets nobody write. */
  readOnly: boolean;
}

export interface Attachment {
  readonly: boolean;
  capability: CapabilityRecord;
  attachedAt: string;
}

/** Kubernetes names that external-provisioner's --extra-create-metadata sends; rules match by them. */
export interface ClaimRecord {
  name?: string;
  namespace?: string;
  volume?: string;
}

export interface VolumeRecord {
  version: number;
  id: string;
  name: string;
  /** Position in listings; grows for ever, so that a page token stays valid whatever is deleted. */
  sequence: number;
  origin: VolumeOrigin;
  createdAt: string;
  capacityBytes: string;
  backend: BackendName;
  /** Filesystem wanted by the first capability that named one; '' is the driver's default at first stage. */
  fsType: string;
  accessTypes: AccessType[];
  parameters: Record<string, string>;
  /** As CreateVolume asked, for its idempotency; ControllerModifyVolume changes `mutable`, never this. */
  requestedMutable: Record<string, string>;
  mutable: Record<string, string>;
  context: Record<string, string>;
  /** What a PersistentVolume or a pod says of a volume that nobody created, without what Kubernetes adds to it. */
  attributes?: Record<string, string>;
  source?: ContentSource;
  /** Where it can be reached; empty means everywhere. */
  topology: Segments[];
  /** The node whose pod an inline volume belongs to: it alone removes it. */
  node?: string;
  claim: ClaimRecord;
  attachments: Record<string, Attachment>;
}

export interface SnapshotRecord {
  version: number;
  id: string;
  name: string;
  sequence: number;
  sourceVolumeId: string;
  createdAt: string;
  sizeBytes: string;
  /** The instant from which `ready_to_use` is true (post-processing of `readyAfter`). */
  readyAt: string;
  backend: BackendName;
  fsType: string;
  accessTypes: AccessType[];
  parameters: Record<string, string>;
  groupId?: string;
  /** Whether GetMetadataDelta may compare it. */
  trackBlocks: boolean;
  /** Volumes restored from it depend on it: while there are any, it cannot be deleted. */
  dependent: boolean;
}

export interface GroupRecord {
  version: number;
  id: string;
  name: string;
  sequence: number;
  createdAt: string;
  sourceVolumeIds: string[];
  snapshotIds: string[];
  parameters: Record<string, string>;
}

export interface NodeRecord {
  version: number;
  id: string;
  topology: Segments;
  maxVolumes: number;
  bootId: string;
}

/** What a node did for one volume: written before the kernel is asked, so that no mount is without a record. */
export interface StageRecord {
  version: number;
  volumeId: string;
  bootId: string;
  stagingPath: string;
  /** Made by the driver itself for a publish without NodeStageVolume (ephemeral, or the capability switched off). */
  implicit: boolean;
  readOnly: boolean;
  capability: CapabilityRecord;
  backend: BackendName;
  fsType: string;
  /** The loop device under it, also while nothing is mounted any more: whoever still uses the disk uses that one. */
  loopIndex?: number;
  /** st_dev of the mount where it is not the loop device's own number (btrfs gives each mount one of its own). */
  mountDevice?: { major: number; minor: number };
  /** It was unmounted for a moment, to be grown: the options to mount it with again. */
  remount?: string[] | undefined;
}

export interface PublicationRecord {
  version: number;
  volumeId: string;
  bootId: string;
  targetPath: string;
  stagingPath: string;
  /** Nobody can write there: by the call, by its capability, or because the stage is read-only. */
  readOnly: boolean;
  /** What the call said of it: a repeat must say the same, whatever else makes the volume read-only. */
  requestedReadOnly: boolean;
  ephemeral: boolean;
  capability: CapabilityRecord;
  /** Digests of the contexts: a repeat must equal them, and they may hold what should not be kept. */
  volumeContextDigest: string;
  publishContextDigest: string;
  pod: Record<string, string>;
}
