import type { ClientRequestOf, CsiMethod } from '../csi/rpcs';
import { type Answer, answerText, callText } from './answer';

type Undo = { [M in CsiMethod]: { method: M; request: ClientRequestOf<M> } }[CsiMethod];

/** An answer by which nothing is left of what is undone. */
const GONE = new Set(['OK', 'NOT_FOUND', 'UNIMPLEMENTED']);

/** What something else on the machine held for a moment is given back later on. */
const ROUNDS = 5;
const PAUSE_MS = 250;

/** What the calls of a case made, and how it is taken back, whatever became of the case. */
export class Ledger {
  private readonly undos: Undo[] = [];
  private readonly volumes = new Set<string>();

  /** Of a call that was answered. A stage, a publish or an attach counts when it failed, too: it may have done a part. */
  note({ method, request, code, response }: Answer): void {
    const sent = request as Record<string, string>;
    const made = code === 'OK' ? (response as Record<string, unknown>) : undefined;
    if (method === 'CreateVolume' && made) {
      const id = (made.volume as { volume_id?: string } | null)?.volume_id ?? '';
      if (id === '' || this.volumes.has(id)) return;
      this.volumes.add(id);
      this.undos.push({ method: 'DeleteVolume', request: { volume_id: id } });
    } else if (method === 'CreateSnapshot' && made) {
      const id = (made.snapshot as { snapshot_id?: string } | null)?.snapshot_id ?? '';
      if (id !== '') this.undos.push({ method: 'DeleteSnapshot', request: { snapshot_id: id } });
    } else if (method === 'CreateVolumeGroupSnapshot' && made) {
      const group = made.group_snapshot as {
        group_snapshot_id?: string;
        snapshots?: { snapshot_id: string }[];
      } | null;
      this.undos.push({
        method: 'DeleteVolumeGroupSnapshot',
        request: {
          group_snapshot_id: group?.group_snapshot_id ?? '',
          snapshot_ids: (group?.snapshots ?? []).map(({ snapshot_id }) => snapshot_id),
        },
      });
    } else if (this.volumes.has(sent.volume_id ?? '')) this.noteUse(method, sent);
  }

  private noteUse(method: CsiMethod, sent: Record<string, string>) {
    const { volume_id = '', node_id = '', staging_target_path = '', target_path = '' } = sent;
    if (method === 'ControllerPublishVolume')
      this.undos.push({ method: 'ControllerUnpublishVolume', request: { volume_id, node_id } });
    if (method === 'NodeStageVolume')
      this.undos.push({ method: 'NodeUnstageVolume', request: { volume_id, staging_target_path } });
    if (method === 'NodePublishVolume')
      this.undos.push({ method: 'NodeUnpublishVolume', request: { volume_id, target_path } });
  }

  /** Newest first; what is refused is tried again when the rest is gone. @returns one line for each thing left behind */
  async undo(send: <M extends CsiMethod>(method: M, request: ClientRequestOf<M>) => Promise<Answer<M>>) {
    let left = this.undos.splice(0).reverse();
    let lines: string[] = [];
    for (let round = 0; round < ROUNDS && left.length > 0; round += 1) {
      if (round > 1) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const refused: Undo[] = [];
      lines = [];
      for (const undo of left) {
        const answer = await send(undo.method, undo.request as never);
        if (GONE.has(answer.code)) continue;
        // A path that could not be staged cannot be unstaged either.
        if (answer.code === 'INVALID_ARGUMENT') continue;
        refused.push(undo);
        lines.push(`${callText(undo.method, undo.request)}: ${answerText(answer)}`);
      }
      left = refused;
    }
    return lines;
  }
}
