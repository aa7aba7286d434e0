import { alreadyExists, failedPrecondition, notFound } from '../../csi/status';
import { checkReachable } from '../../volumes/node-registry';
import type { Attachment, CapabilityRecord, VolumeRecord } from '../../volumes/records';
import type { Handler } from '../env';
import { resolveVolume, undoingNew } from '../resolve';
import {
  digest,
  isMultiNode,
  recordOf,
  requireCapability,
  sameCapability,
  unservable,
} from '../volume-capability';

export const controllerPublishVolume: Handler<'ControllerPublishVolume'> = (env, request, call) =>
  undoingNew(env, request.volume_id, () => attach(env, request, call));

const attach: Handler<'ControllerPublishVolume'> = async (env, request, call) => {
  const node = env.nodes.find(request.node_id);
  const volume = await resolveVolume(env, request.volume_id, node ? request.volume_context : {});
  if (!node)
    throw notFound(
      `node ${JSON.stringify(request.node_id)} is not known: no node process with that id has started on this data folder`,
    );
  const capability = recordOf(requireCapability(request.volume_capability));
  const present = attachmentOn(volume, node.id);
  if (present) {
    if (present.readonly !== request.readonly || !sameCapability(present.capability, capability))
      throw alreadyExists(
        `volume ${volume.id} is published to node ${node.id} with readonly ${present.readonly} or another capability; unpublish it there first`,
      );
    return { publish_context: publishContext(volume, node.id, request.readonly) };
  }
  const problem = unservable(env, volume, capability);
  if (problem) throw failedPrecondition(problem);
  checkExclusive(volume, capability, node.id);
  checkReachable(volume.id, volume.topology, node);
  const release = env.attachments.reserve(node.id, node.maxVolumes);
  try {
    await call.point('beforeAttach');
    await env.volumes.update({
      ...volume,
      attachments: {
        ...volume.attachments,
        [node.id]: {
          readonly: request.readonly,
          capability,
          attachedAt: new Date(env.clock.now()).toISOString(),
        },
      },
    });
  } finally {
    release();
  }
  call.effect(`attached to ${node.id}`);
  return { publish_context: publishContext(volume, node.id, request.readonly) };
};

/** A node may have the name of a property that every object has, such as `constructor`. */
export function attachmentOn({ attachments }: VolumeRecord, nodeId: string): Attachment | undefined {
  return Object.hasOwn(attachments, nodeId) ? attachments[nodeId] : undefined;
}

/** A disk that only one node may have is refused to the second; so is a second node beside such a one. */
function checkExclusive(volume: VolumeRecord, capability: CapabilityRecord, nodeId: string): void {
  const others = Object.entries(volume.attachments);
  const exclusive =
    !isMultiNode(capability.accessMode) || others.some(([, a]) => !isMultiNode(a.capability.accessMode));
  if (others.length > 0 && exclusive)
    throw failedPrecondition(
      `volume ${volume.id} is published to ${others.map(([id]) => id).join(', ')} and its access mode allows one node; ` +
        `unpublish it there before publishing it to ${nodeId}`,
    );
}

/** What proves to NodeStageVolume that this volume is attached to that node: always the same for the two. */
export function publishContext(
  volume: VolumeRecord,
  nodeId: string,
  readonly: boolean,
): Record<string, string> {
  return { attachment: digest([volume.id, nodeId]), readonly: `${readonly}` };
}

export const controllerUnpublishVolume: Handler<'ControllerUnpublishVolume'> = async (env, request, call) => {
  const volume = env.volumes.find(request.volume_id);
  // A volume or node nobody knows is as unpublished as can be (CSI 1.12, ControllerUnpublishVolume).
  if (!volume) return {};
  const attachments = request.node_id === '' ? {} : { ...volume.attachments };
  delete attachments[request.node_id];
  if (Object.keys(attachments).length === Object.keys(volume.attachments).length) return {};
  await call.point('beforeDetach');
  await env.volumes.update({ ...volume, attachments });
  call.effect(`detached from ${request.node_id || 'every node'}`);
  return {};
};
