import { VOLUME_ATTACHMENT_WAIT_MS } from '../constants';
import { volumeAttachmentName } from '../names';
import type { PersistentVolume, VolumeAttachment } from '../objects';
import { pollUntil } from '../poll';
import type { ControllerEnvironment } from './controller-environment';

/** How often who waits looks at a VolumeAttachment, at least. */
const POLL_MS = 500;

/**
 * How the attach/detach controller attaches a CSI volume (csi_attacher.go): it makes or deletes a VolumeAttachment and waits
 * until somebody says in it what came of that.
 */
export class VolumeAttachments {
  private readonly who = 'attachdetach-controller' as const;

  constructor(private readonly env: ControllerEnvironment) {}

  /** @throws Error with the attacher's words, or that nobody said anything for two minutes */
  async attach(pv: PersistentVolume, nodeName: string): Promise<void> {
    const name = volumeAttachmentName(pv.volumeHandle, pv.driver, nodeName);
    const made = this.env.api.attachments.get(name) ?? this.make(name, pv, nodeName);
    const ended = await this.wait(
      () => made.attached || made.attachError !== undefined || made.deletionTimestamp !== undefined,
    );
    if (made.attached) return;
    if (made.deletionTimestamp !== undefined) throw new Error('volume attachment is being deleted');
    throw new Error(
      ended
        ? (made.attachError ?? '')
        : `timed out waiting for external-attacher of ${pv.driver} CSI driver to attach volume ${pv.volumeHandle}`,
    );
  }

  private make(name: string, pv: PersistentVolume, nodeName: string): VolumeAttachment {
    const { api } = this.env;
    const attachment: VolumeAttachment = {
      kind: 'VolumeAttachment',
      meta: { name, namespace: '', uid: api.uid(`VolumeAttachment ${name}`) },
      attacher: pv.driver,
      persistentVolumeName: pv.meta.name,
      nodeName,
      nodeId: undefined,
      attached: false,
      attachmentMetadata: {},
      attachError: undefined,
      attachErrorCode: undefined,
      detachError: undefined,
      deletionTimestamp: undefined,
    };
    this.say(pv, `VolumeAttachment ${short(name)} made for ${nodeName}`);
    api.attachments.add(attachment);
    return attachment;
  }

  /** @throws Error as `attach` does */
  async detach(pv: PersistentVolume, nodeName: string): Promise<void> {
    const { api, clock } = this.env;
    const name = volumeAttachmentName(pv.volumeHandle, pv.driver, nodeName);
    const attachment = api.attachments.get(name);
    if (attachment && attachment.deletionTimestamp === undefined) {
      attachment.deletionTimestamp = clock.now();
      this.say(pv, `VolumeAttachment ${short(name)} is to be deleted (${nodeName})`);
      api.changed();
    }
    if (attachment) await this.gone(attachment, pv);
    this.say(pv, `DetachVolume.Detach succeeded from ${nodeName}`);
  }

  private async gone(attachment: VolumeAttachment, pv: PersistentVolume): Promise<void> {
    const { api } = this.env;
    const isGone = () => api.attachments.get(attachment.meta.name) !== attachment;
    const ended = await this.wait(() => isGone() || attachment.detachError !== undefined);
    if (isGone()) return;
    throw new Error(
      ended
        ? (attachment.detachError ?? '')
        : `timed out waiting for external-attacher of ${pv.driver} CSI driver to detach volume ${pv.volumeHandle}`,
    );
  }

  private wait(condition: () => boolean): Promise<boolean> {
    const { clock, signal, api } = this.env;
    const watch = (changed: () => void) => api.watch(changed);
    const timeoutMs = VOLUME_ATTACHMENT_WAIT_MS;
    return pollUntil({ clock, periodMs: POLL_MS, timeoutMs, signal, watch, always: false }, condition);
  }

  private say(pv: PersistentVolume, text: string): void {
    this.env.timeline.add({ who: this.who, kind: 'object', about: pv.meta.name, text });
  }
}

function short(name: string): string {
  return `${name.slice(0, 12)}…`;
}
