import { VOLUME_ATTACHMENT_WAIT_MS } from '../constants';
import { volumeAttachmentName } from '../names';
import type { PersistentVolume, VolumeAttachment } from '../objects';
import type { ControllerEnvironment } from './controller-environment';

/** Between two looks at a VolumeAttachment: each pause is so much longer than the one before, and a little is drawn. */
const POLL = { startMs: 500, maxMs: 7_000, factor: 1.05, jitter: 0.1 };

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
    const { api } = this.env;
    if (!api.attachments.get(name)) this.make(name, pv, nodeName);
    const ended = await this.wait(name, () => {
      const attachment = api.attachments.get(name);
      // One that is not there is waited for: it may not have been heard of yet.
      if (!attachment) return false;
      if (attachment.deletionTimestamp !== undefined) throw new Error('volume attachment is being deleted');
      if (!attachment.attached && attachment.attachError !== undefined)
        throw new Error(attachment.attachError);
      return attachment.attached;
    });
    if (!ended)
      throw new Error(
        `timed out waiting for external-attacher of ${pv.driver} CSI driver to attach volume ${pv.volumeHandle}`,
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
    const ended = await this.wait(attachment.meta.name, () => {
      if (!isGone() && attachment.detachError !== undefined) throw new Error(attachment.detachError);
      return isGone();
    });
    // Who detaches knows the volume by its unique name alone, and says nothing of a driver.
    if (!ended)
      throw new Error(
        `timed out waiting for external-attacher of unknown CSI driver to detach volume ${pv.volumeHandle}`,
      );
  }

  /** csi_attacher.go, waitForVolumeAttachDetachStatusWithLister. @returns whether it came true. @throws what it throws */
  private async wait(name: string, condition: () => boolean): Promise<boolean> {
    const { clock, signal, seeded } = this.env;
    const deadline = clock.now() + VOLUME_ATTACHMENT_WAIT_MS;
    for (let looks = 0; ; looks++) {
      const pause = Math.min(POLL.maxMs, POLL.startMs * POLL.factor ** looks);
      const jittered = seeded.jittered(pause, POLL.jitter, `look ${name} ${deadline} ${looks}`);
      await clock.sleep(Math.min(jittered, deadline - clock.now()), signal);
      if (clock.now() >= deadline) return false;
      if (condition()) return true;
    }
  }

  private say(pv: PersistentVolume, text: string): void {
    this.env.timeline.add({ who: this.who, kind: 'object', about: pv.meta.name, text });
  }
}

function short(name: string): string {
  return `${name.slice(0, 12)}…`;
}
