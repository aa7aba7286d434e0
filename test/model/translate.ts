import type { Snapshot__Output } from '../../src/csi/gen/csi/v1/Snapshot';
import type { Volume__Output } from '../../src/csi/gen/csi/v1/Volume';
import type { VolumeCapability } from '../../src/csi/gen/csi/v1/VolumeCapability';
import { blockCapability, mountCapability } from '../support/lifecycle';
import type { SnapshotReply, VolumeReply } from './expectation';
import type { Access, Range } from './operations';

/** Names of a sequence and the ids that a plugin gave them, both ways. */
export class Names {
  private readonly ids = new Map<string, string>();
  private readonly names = new Map<string, string>();

  /** @throws Error when a plugin gives one thing two ids, or one id to two things. */
  learn(name: string, id: string): void {
    const known = this.ids.get(name);
    const other = this.names.get(id);
    if ((known ?? id) !== id) throw new Error(`${name}: had the id ${known}, has ${id} now`);
    if ((other ?? name) !== name) throw new Error(`${name}: has the id ${id} of ${other}`);
    this.ids.set(name, id);
    this.names.set(id, name);
  }

  id(name: string): string {
    return name === '' ? '' : (this.ids.get(name) ?? `never-${name.replace('/', '-')}`);
  }

  name(id: string): string {
    return id === '' ? '' : (this.names.get(id) ?? `the unknown ${id}`);
  }
}

export function capabilityOf({ type, mode, fs, flags }: Access): VolumeCapability {
  return type === 'block' ? blockCapability(mode) : mountCapability({ mode, fsType: fs, mountFlags: flags });
}

export const rangeOf = (range: Range | null) =>
  range && { required_bytes: `${range.required}`, limit_bytes: `${range.limit}` };

export function volumeReply(names: Names, volume: Volume__Output | null): VolumeReply {
  if (!volume) throw new Error('expected a volume in the reply');
  const { content_source: source } = volume;
  return {
    v: names.name(volume.volume_id),
    size: BigInt(volume.capacity_bytes),
    source: source?.snapshot
      ? `snapshot ${names.name(source.snapshot.snapshot_id)}`
      : source?.volume
        ? `volume ${names.name(source.volume.volume_id)}`
        : '',
  };
}

export function snapshotReply(names: Names, snapshot: Snapshot__Output | null): SnapshotReply {
  if (!snapshot) throw new Error('expected a snapshot in the reply');
  if (!snapshot.creation_time) throw new Error('expected a creation_time in the reply');
  return {
    s: names.name(snapshot.snapshot_id),
    of: names.name(snapshot.source_volume_id),
    size: BigInt(snapshot.size_bytes),
    group: names.name(snapshot.group_snapshot_id),
    ready: snapshot.ready_to_use,
  };
}
