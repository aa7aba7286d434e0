import { Code, CsiError } from '../../csi/status';
import { ATTACHER_TIMEOUT_MS } from '../constants';
import { volumeCapability } from '../csi/capabilities';
import { rpcErrorText } from '../errors';
import type { PersistentVolume, VolumeAttachment } from '../objects';
import { CONTROLLER, type ControllerEnvironment, Sidecar } from './controller-environment';

/** external-attacher: makes true what VolumeAttachments say, and writes into them what came of it. */
export class Attacher extends Sidecar {
  constructor(env: ControllerEnvironment) {
    super(env, 'external-attacher');
  }

  protected turn(): void {
    for (const attachment of this.env.api.attachments.all()) {
      if (attachment.attacher !== this.env.driverName()) continue;
      const { name } = attachment.meta;
      if (attachment.deletionTimestamp !== undefined)
        this.queue.offer(`detach ${name}`, () => this.detach(attachment));
      else if (!attachment.attached) this.queue.offer(`attach ${name}`, () => this.attach(attachment));
    }
  }

  private async attach(attachment: VolumeAttachment): Promise<void> {
    const { api, timeline } = this.env;
    try {
      const pv = this.volumeOf(attachment);
      const nodeId = this.nodeIdOf(attachment);
      attachment.nodeId = nodeId;
      let metadata: Record<string, string> = {};
      if (await this.controllerHas(CONTROLLER.PUBLISH_UNPUBLISH_VOLUME, ATTACHER_TIMEOUT_MS)) {
        const answer = await this.calls.call(
          'ControllerPublishVolume',
          {
            volume_id: pv.volumeHandle,
            node_id: nodeId,
            volume_capability: volumeCapability(pv, pv.accessModes),
            readonly: pv.readOnly,
            secrets: this.secret(pv.secrets.controllerPublish),
            volume_context: { ...pv.volumeAttributes },
          },
          this.calls.context(ATTACHER_TIMEOUT_MS, pv.meta.name),
        );
        metadata = answer.publish_context;
      }
      this.write('attach', attachment);
      attachment.attached = true;
      attachment.attachmentMetadata = metadata;
      attachment.attachError = undefined;
      this.say(attachment, 'VolumeAttachment.status.attached: true');
    } catch (error) {
      if (api.isDown) throw error;
      attachment.attachError = rpcErrorText(error);
      attachment.attachErrorCode = error instanceof CsiError ? error.code : undefined;
      timeline.log({
        who: this.who,
        about: attachment.persistentVolumeName,
        text: `VolumeAttachment.status.attachError: ${attachment.attachError}`,
      });
      throw error;
    } finally {
      api.changed();
    }
  }

  private async detach(attachment: VolumeAttachment): Promise<void> {
    const { api, timeline } = this.env;
    try {
      const pv = this.volumeOf(attachment);
      if (await this.controllerHas(CONTROLLER.PUBLISH_UNPUBLISH_VOLUME, ATTACHER_TIMEOUT_MS))
        await this.calls
          .call(
            'ControllerUnpublishVolume',
            {
              volume_id: pv.volumeHandle,
              node_id: attachment.nodeId ?? this.nodeIdOf(attachment),
              secrets: this.secret(pv.secrets.controllerPublish),
            },
            this.calls.context(ATTACHER_TIMEOUT_MS, pv.meta.name),
          )
          .catch((error) => {
            // What is not there is detached.
            if (!(error instanceof CsiError && error.code === Code.NOT_FOUND)) throw error;
          });
      this.write('detach', attachment);
      this.say(attachment, 'VolumeAttachment deleted');
      api.attachments.remove(attachment);
    } catch (error) {
      if (api.isDown) throw error;
      attachment.detachError = rpcErrorText(error);
      timeline.log({
        who: this.who,
        about: attachment.persistentVolumeName,
        text: `VolumeAttachment.status.detachError: ${attachment.detachError}`,
      });
      throw error;
    } finally {
      api.changed();
    }
  }

  /** Nothing comes of a call whose outcome cannot be written: it is made again. @throws Error */
  private write(doing: 'attach' | 'detach', { meta, persistentVolumeName }: VolumeAttachment): void {
    const { api, timeline } = this.env;
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${meta.name}`;
    const failure = api.failureOf('Patch', `${path}/status`);
    if (failure === undefined) return;
    const text = `Error processing ${meta.name}: failed to ${doing}: ${failure}`;
    timeline.log({ who: this.who, about: persistentVolumeName, text });
    throw new Error(failure);
  }

  private say({ persistentVolumeName, meta, nodeName }: VolumeAttachment, text: string): void {
    this.env.timeline.add({
      who: this.who,
      kind: 'object',
      about: persistentVolumeName,
      text: `${text} (${meta.name.slice(0, 12)}…, ${nodeName})`,
    });
  }

  private volumeOf({ persistentVolumeName }: VolumeAttachment): PersistentVolume {
    const pv = this.env.api.volumes.get(persistentVolumeName);
    if (pv) return pv;
    throw new Error(`persistentvolume "${persistentVolumeName}" not found`);
  }

  private nodeIdOf({ nodeName, attacher }: VolumeAttachment): string {
    const id = this.env.api.nodes.get(nodeName)?.csiDrivers.get(attacher);
    if (id !== undefined) return id;
    throw new Error(`CSINode ${nodeName} does not contain driver ${attacher}`);
  }
}
