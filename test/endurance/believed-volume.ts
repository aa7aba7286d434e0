import type { Kind } from '../support/kinds';
import { createVolume, type DriverLike, MIB, publish, type UsedVolume } from '../support/lifecycle';
import { type Contents, differences } from './contents';

/** What a CO believes of its volume, from the least to the most; each includes those before it. */
export type Level = 'absent' | 'created' | 'attached' | 'staged' | 'published';

/** A call that may be cut off, and what the CO believes when it is answered. */
export interface Action {
  readonly name: string;
  call(driver: DriverLike): Promise<void>;
  /** What a CO that changes its mind does instead of repeating it. */
  readonly undo?: () => Action;
}

export interface Snapshot {
  readonly id: string;
  readonly contents: Contents;
  readonly size: number;
  /** Volumes that are to be made of it: until they are, it must stay. */
  wanted: number;
}

/** What the run counts. */
export interface Tally {
  calls: number;
  cutOff: number;
  repeated: number;
  undone: number;
  /** Files and slots that were read again and found as they were written. */
  verified: number;
}

export interface BelievedVolumeOptions {
  readonly name: string;
  readonly kind: Kind;
  readonly tally: Tally;
  /** Makes a user of another volume, of a snapshot of this one. @returns false when there are enough. */
  restored(snapshot: Snapshot, kind: Kind): boolean;
}

const GROWTH = 32 * MIB;
const MOST_GROWTH = 4;

/** A volume as its CO believes it to be, and every call that may come next: each, once answered, is what is believed. */
export class BelievedVolume {
  level: Level = 'absent';
  contents: Contents;
  size: number;
  snapshots: Snapshot[] = [];
  /** Grown by the controller, and not yet by the node. */
  nodeMustGrow = false;
  /** Of a snapshot that may be gone: once deleted it cannot be made again. */
  isOver = false;
  private used: UsedVolume | undefined;
  private made = 0;

  constructor(
    private readonly options: BelievedVolumeOptions,
    private readonly source: Snapshot | undefined,
  ) {
    this.size = source?.size ?? options.kind.size;
    this.contents = source?.contents ?? new Map();
  }

  /** Gone, with all of its snapshots, and nothing is to be made of its source any more. */
  get isGone(): boolean {
    const isSettled = !this.source || this.isOver;
    return this.level === 'absent' && this.snapshots.length === 0 && isSettled;
  }

  letGoOfSource(): void {
    if (!this.source || this.isOver) return;
    this.source.wanted -= 1;
    this.isOver = true;
  }

  up(): Action {
    switch (this.level) {
      case 'absent':
        return this.create();
      case 'created':
        return this.attach();
      case 'attached':
        return this.stage();
      default:
        return this.nodeMustGrow ? this.nodeExpand() : this.publish();
    }
  }

  down(): Action {
    switch (this.level) {
      case 'published':
        return this.unpublish();
      case 'staged':
        return this.unstage();
      case 'attached':
        return this.detach();
      default:
        return this.remove();
    }
  }

  /** What is done beside the way up and down. */
  asides(): Action[] {
    const { kind } = this.options;
    const grown = (this.size - kind.size) / GROWTH;
    const found: Action[] = [];
    if (this.snapshots.length < 2) found.push(this.snapshot());
    for (const snapshot of this.snapshots) {
      found.push(this.restore(snapshot));
      if (snapshot.wanted === 0) found.push(this.dropSnapshot(snapshot));
    }
    if (kind.name !== 'directory' && grown < MOST_GROWTH) found.push(this.expand());
    return found.length > 0 ? found : [this.attachAgain()];
  }

  get volume(): UsedVolume {
    if (!this.used) throw new Error('no such volume yet');
    return this.used;
  }

  private create(): Action {
    const { name, kind } = this.options;
    const options = kind.options();
    return {
      name: 'CreateVolume',
      call: async (driver) => {
        const id = await createVolume(driver, {
          ...options,
          name,
          size: this.size,
          ...(this.source && { source: { snapshot: { snapshot_id: this.source.id } } }),
        });
        const capability = options.capability ?? {};
        const [staging, target] = [await driver.folder(`${name}-staging`), await driver.target(name)];
        this.used = { id, staging, target, publishContext: {}, capability };
        this.level = 'created';
        this.letGoOfSource();
      },
    };
  }

  private remove(): Action {
    return {
      name: 'DeleteVolume',
      call: async (driver) => {
        await driver.csi.DeleteVolume({ volume_id: this.volume.id });
        this.level = 'absent';
        // A volume of that name, made anew, is another one.
        this.contents = this.source?.contents ?? new Map();
        this.size = this.source?.size ?? this.options.kind.size;
        this.nodeMustGrow = false;
      },
    };
  }

  private attach(): Action {
    return {
      name: 'ControllerPublishVolume',
      call: (driver) => this.attached(driver),
      undo: () => this.detach(),
    };
  }

  private attachAgain(): Action {
    return {
      name: 'ControllerPublishVolume again',
      call: (driver) => (this.level === 'created' ? Promise.resolve() : this.attached(driver, this.level)),
    };
  }

  private async attached(driver: DriverLike, level: Level = 'attached'): Promise<void> {
    const { publish_context } = await driver.csi.ControllerPublishVolume({
      volume_id: this.volume.id,
      node_id: 'node-1',
      volume_capability: this.volume.capability,
    });
    this.volume.publishContext = publish_context;
    this.level = level;
  }

  private detach(): Action {
    return {
      name: 'ControllerUnpublishVolume',
      call: async (driver) => {
        await driver.csi.ControllerUnpublishVolume({ volume_id: this.volume.id, node_id: 'node-1' });
        this.level = 'created';
      },
      undo: () => this.attach(),
    };
  }

  private stage(): Action {
    return {
      name: 'NodeStageVolume',
      call: async (driver) => {
        const { id, publishContext, staging, capability } = this.volume;
        await driver.csi.NodeStageVolume({
          volume_id: id,
          publish_context: publishContext,
          staging_target_path: staging,
          volume_capability: capability,
        });
        this.level = 'staged';
      },
      undo: () => this.unstage(),
    };
  }

  private unstage(): Action {
    return {
      name: 'NodeUnstageVolume',
      call: async (driver) => {
        const { id, staging } = this.volume;
        await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
        this.level = 'attached';
      },
      undo: () => this.stage(),
    };
  }

  private publish(): Action {
    return {
      name: 'NodePublishVolume',
      call: async (driver) => {
        await publish(driver, this.volume);
        this.level = 'published';
        await this.verify();
      },
      undo: () => this.unpublish(),
    };
  }

  private unpublish(): Action {
    return {
      name: 'NodeUnpublishVolume',
      call: async (driver) => {
        const { id, target } = this.volume;
        await driver.csi.NodeUnpublishVolume({ volume_id: id, target_path: target });
        this.level = 'staged';
      },
      undo: () => this.publish(),
    };
  }

  private snapshot(): Action {
    const name = `${this.options.name}-${this.made++}`;
    const { contents, size } = this;
    return {
      name: 'CreateSnapshot',
      call: async (driver) => {
        const { snapshot } = await driver.csi.CreateSnapshot({ source_volume_id: this.volume.id, name });
        this.snapshots.push({ id: snapshot?.snapshot_id ?? '', contents, size, wanted: 0 });
      },
    };
  }

  dropSnapshot(snapshot: Snapshot): Action {
    return {
      name: 'DeleteSnapshot',
      call: async (driver) => {
        await driver.csi.DeleteSnapshot({ snapshot_id: snapshot.id });
        this.snapshots = this.snapshots.filter((other) => other !== snapshot);
      },
    };
  }

  private restore(snapshot: Snapshot): Action {
    return {
      name: 'a volume of its snapshot',
      call: async () => {
        if (this.options.restored(snapshot, this.options.kind)) snapshot.wanted += 1;
      },
    };
  }

  private expand(): Action {
    const size = this.size + GROWTH;
    return {
      name: 'ControllerExpandVolume',
      call: async (driver) => {
        const { node_expansion_required } = await driver.csi.ControllerExpandVolume({
          volume_id: this.volume.id,
          capacity_range: { required_bytes: `${size}` },
        });
        this.size = size;
        this.nodeMustGrow ||= node_expansion_required;
      },
    };
  }

  /** Before it is published: without CAP_SYS_RESOURCE an ext4 in use does not grow. */
  private nodeExpand(): Action {
    return {
      name: 'NodeExpandVolume',
      call: async (driver) => {
        const { id, staging, capability } = this.volume;
        await driver.csi.NodeExpandVolume({
          volume_id: id,
          volume_path: staging,
          staging_target_path: staging,
          capacity_range: { required_bytes: `${this.size}` },
          volume_capability: capability,
        });
        this.nodeMustGrow = false;
      },
    };
  }

  async verify(): Promise<void> {
    const { kind, tally } = this.options;
    const wrong = await differences(this.volume.target, kind.block, this.contents);
    if (wrong.length > 0) throw new Error(`its data is not what was written: ${wrong.join('; ')}`);
    tally.verified += this.contents.size;
  }
}
