import { resourceExhausted } from '../csi/status';
import type { VolumeRecord } from './records';

/** Which volumes are attached to a node, without walking all volumes. */
export class AttachmentIndex {
  private readonly byNode = new Map<string, Set<string>>();
  private readonly reserved = new Map<string, number>();

  /** For RecordStore.onChange. */
  adjust(before: VolumeRecord | undefined, after: VolumeRecord | undefined): void {
    for (const nodeId of Object.keys(before?.attachments ?? {}))
      this.byNode.get(nodeId)?.delete(before?.id ?? '');
    for (const nodeId of Object.keys(after?.attachments ?? {})) {
      const volumes = this.byNode.get(nodeId) ?? new Set();
      this.byNode.set(nodeId, volumes.add(after?.id ?? ''));
    }
  }

  /**
   * Sets a place on the node aside while an attachment is being written, so that two calls cannot take the last one.
   * @param limit volumes a node takes; 0 is no limit.
   * @throws CsiError RESOURCE_EXHAUSTED
   */
  reserve(nodeId: string, limit: number): () => void {
    const attached = this.byNode.get(nodeId)?.size ?? 0;
    const pending = this.reserved.get(nodeId) ?? 0;
    if (limit > 0 && attached + pending >= limit)
      throw resourceExhausted(
        `node ${nodeId} has ${attached + pending} volumes, its limit (max_volumes_per_node) is ${limit}; unpublish one first`,
      );
    this.reserved.set(nodeId, pending + 1);
    let reserved = true;
    return () => {
      if (reserved) this.reserved.set(nodeId, (this.reserved.get(nodeId) ?? 1) - 1);
      reserved = false;
    };
  }
}
