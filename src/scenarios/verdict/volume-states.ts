import type { JournalCall } from '../../journal/calls';
import type { VolumeState } from '../model';

interface Tracked {
  readonly attachments: Set<string>;
  /** Of one process each: the same path on two nodes is two stages. */
  readonly stages: Set<string>;
  readonly publications: Set<string>;
  deleted: boolean;
}

/** How far each volume has come, told from the calls that answered OK. */
export class VolumeStates {
  private readonly volumes = new Map<string, Tracked>();

  /** @returns the id of the volume whose state may have changed. */
  answered(call: JournalCall): string | undefined {
    const { code, volumeId, nodeId = '', process } = call;
    if (code !== 'OK' || volumeId === undefined) return undefined;
    const change = this.changes[call.method];
    if (!change) return undefined;
    let tracked = this.volumes.get(volumeId);
    if (!tracked || (tracked.deleted && call.method !== 'DeleteVolume')) {
      tracked = { attachments: new Set(), stages: new Set(), publications: new Set(), deleted: false };
      this.volumes.set(volumeId, tracked);
    }
    const { stagingTargetPath = '', targetPath = '' } = call;
    change(tracked, {
      node: nodeId,
      stage: `${process} ${stagingTargetPath}`,
      target: `${process} ${targetPath}`,
    });
    return volumeId;
  }

  /** The driver took a volume away without a call: `volumeDeleted`. */
  deleted(id: string): void {
    this.volumes.set(id, {
      attachments: new Set(),
      stages: new Set(),
      publications: new Set(),
      deleted: true,
    });
  }

  get(id: string): VolumeState | 'deleted' | undefined {
    const tracked = this.volumes.get(id);
    if (!tracked) return undefined;
    if (tracked.deleted) return 'deleted';
    if (tracked.publications.size > 0) return 'published';
    if (tracked.stages.size > 0) return 'staged';
    return tracked.attachments.size > 0 ? 'attached' : 'created';
  }

  ids(): IterableIterator<string> {
    return this.volumes.keys();
  }

  private readonly changes: Readonly<
    Record<string, (tracked: Tracked, at: { node: string; stage: string; target: string }) => void>
  > = {
    CreateVolume: () => undefined,
    DeleteVolume: (tracked) => {
      tracked.deleted = true;
    },
    ControllerPublishVolume: ({ attachments }, { node }) => attachments.add(node),
    // CSI: without a node it is from all of them.
    ControllerUnpublishVolume: ({ attachments }, { node }) =>
      node === '' ? attachments.clear() : attachments.delete(node),
    NodeStageVolume: ({ stages }, { stage }) => stages.add(stage),
    NodeUnstageVolume: ({ stages }, { stage }) => stages.delete(stage),
    NodePublishVolume: ({ publications }, { target }) => publications.add(target),
    NodeUnpublishVolume: ({ publications }, { target }) => publications.delete(target),
  };
}

/** The volume that a `volumeDeleted` event is about. */
export function deletedVolume({ event, details }: { event: string; details: object }): string | undefined {
  const { volumeId } = details as { volumeId?: unknown };
  return event === 'volumeDeleted' && typeof volumeId === 'string' ? volumeId : undefined;
}
