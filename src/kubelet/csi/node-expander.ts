import { Code } from '../../csi/status';
import { rpcErrorText, StepError, stepErrorOf } from '../errors';
import type { Events } from '../events';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../objects';
import type { AttachedVolume } from '../volumemanager/actual-state-of-world';
import type { VolumeSpec } from '../volumemanager/spec';
import { blockCapability, mountCapability, nodeHas } from './capabilities';
import { multiWriterOf } from './csi-attacher';
import { type NodeEnvironment, openStep, readSecret } from './node-environment';

type ExpandEnvironment = NodeEnvironment & { readonly events: Events };

/** What is to be done on a node for a claim that grew (node_expander.go, runPreCheck). */
export type NodeExpansion =
  | 'wanted'
  /** The claim has its size already, but each node has to be told: its volume is shared (ReadWriteMany). */
  | 'wanted again'
  /** The size is there, and nothing is to be done on this node. */
  | 'done'
  /** The control plane has not done its part, or it cannot be done. */
  | 'not yet';

export function nodeExpansionOf(
  { behaviour }: Pick<NodeEnvironment, 'behaviour'>,
  claim: PersistentVolumeClaim,
  pv: PersistentVolume,
): NodeExpansion {
  const { resizeStatus } = claim;
  if (resizeStatus === 'NodeResizePending' || resizeStatus === 'NodeResizeInProgress') return 'wanted';
  if (resizeStatus !== undefined || (claim.capacityBytes ?? 0n) < newSizeOf(claim, pv)) return 'not yet';
  const isSpared = behaviour.heedsNodeExpansionNotRequired && claim.nodeExpansionNotRequired === true;
  return claim.accessModes.includes('ReadWriteMany') && !isSpared ? 'wanted again' : 'done';
}

/** status.allocatedResources of the claim. */
function newSizeOf({ allocatedBytes }: PersistentVolumeClaim, { capacityBytes }: PersistentVolume): bigint {
  return allocatedBytes ?? capacityBytes;
}

/** Offline expansion: a part of every mount. @throws StepError */
export async function expandDuringMount(
  env: ExpandEnvironment,
  volume: AttachedVolume,
  spec: VolumeSpec,
  pod: Pod,
): Promise<void> {
  const claim = spec.claim === undefined ? undefined : env.api.claims.get(spec.claim);
  const pv = claim && env.api.volumeOf(claim);
  const failure = claim && env.api.failureOf('Get', claimPath(claim));
  if (failure !== undefined)
    throw new StepError('transient', `mountVolume.NodeExpandVolume get PVC failed : ${failure}`);
  if (!claim || !pv || (claim.capacityBytes ?? 0n) >= pv.capacityBytes) return;
  if (spec.readOnly) {
    const text = `MountVolume.NodeExpandVolume failed for volume "${spec.specName}" requested read-only file system`;
    for (const object of [pod, claim])
      env.events.emit(
        { who: 'kubelet', node: env.nodeName },
        object,
        'Warning',
        'FileSystemResizeFailed',
        text,
      );
    return;
  }
  await expandOnNode(env, volume, spec, pod, claim);
}

function claimPath({ meta }: PersistentVolumeClaim): string {
  return `/api/v1/namespaces/${meta.namespace}/persistentvolumeclaims/${meta.name}`;
}

/**
 * NodeExpandVolume and what its answer means for the claim. The capacity in the answer is ignored, as the kubelet does.
 * @throws StepError when it is to be tried again
 */
export async function expandOnNode(
  env: ExpandEnvironment,
  volume: AttachedVolume,
  spec: VolumeSpec,
  pod: Pod,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const { api, events, nodeName, timeline } = env;
  const pv = api.volumeOf(claim);
  if (!pv) return;
  const expansion = nodeExpansionOf(env, claim, pv);
  const wanted = newSizeOf(claim, pv);
  if (expansion === 'done') volume.capacityBytes = wanted;
  if (expansion === 'done' || expansion === 'not yet') return;
  const isAgain = expansion === 'wanted again';
  if (!isAgain) {
    // Written into the claim before the driver is asked.
    mark(env, claim);
    claim.resizeStatus = 'NodeResizeInProgress';
  }
  try {
    await nodeExpand(env, spec, pod, wanted);
  } catch (error) {
    if (error instanceof NotSupportedError && isAgain) {
      volume.capacityBytes = wanted;
      return;
    }
    const failure = stepErrorOf(error);
    if (failure.errorClass === 'final') {
      // Somebody asks for another size meanwhile: the controller is to start anew with that.
      const isGivenUp = claim.requestBytes !== wanted && volume.expansionFailed;
      volume.expansionFailed = true;
      if ((isInfeasible(failure.code) || isGivenUp) && !api.isDown)
        claim.resizeStatus = 'NodeResizeInfeasible';
      api.changed();
    }
    if (failure.code === Code.FAILED_PRECONDITION) {
      // "in use": the mount goes on, and nobody asks again until the volume is mounted anew.
      volume.expandInUse = true;
      const text = `NodeExpandVolume: ${failure.message}; not asked again while the volume is mounted`;
      timeline.log({ who: 'kubelet', node: nodeName, about: spec.specName, text });
      return;
    }
    throw failure;
  }
  const text = `MountVolume.NodeExpandVolume succeeded for volume "${spec.specName}" ${nodeName}`;
  for (const object of [pod, claim])
    events.emit({ who: 'kubelet', node: nodeName }, object, 'Normal', 'FileSystemResizeSuccessful', text);
  volume.expansionFailed = false;
  if (!isAgain) {
    mark(env, claim, 'mountVolume.NodeExpandVolume update pvc status failed: ');
    claim.capacityBytes = wanted;
    claim.resizeStatus = undefined;
  }
  volume.capacityBytes = wanted;
  api.changed();
}

class NotSupportedError extends StepError {}

/** expander.go, NodeExpand. @throws StepError in its words */
async function nodeExpand(
  env: ExpandEnvironment,
  spec: VolumeSpec,
  pod: Pod,
  requiredBytes: bigint,
): Promise<void> {
  const { calls, paths } = env;
  const isBlock = spec.volumeMode === 'Block';
  const context = openStep(env, spec);
  const has = await nodeHas(calls, context, 'EXPAND_VOLUME').catch((error) => {
    // Wrapped as a plain error on its way: it counts as final whatever its code.
    throw new StepError(
      'final',
      `Expander.NodeExpand failed to check if node supports expansion : ${rpcErrorText(error)}`,
    );
  });
  if (!has)
    throw new NotSupportedError('final', `NodeExpand is not supported by the CSI driver ${spec.driver}`);
  const secrets = readSecret(
    env,
    spec.nodeExpandSecret,
    (secret) => `expander.NodeExpand failed to get NodeExpandSecretRef ${secret}`,
  );
  try {
    const multiWriter = await multiWriterOf(env, context);
    await calls.call(
      'NodeExpandVolume',
      {
        volume_id: spec.volumeHandle,
        volume_path: isBlock
          ? paths.blockTarget(spec.specName, pod.meta.uid)
          : paths.target(pod.meta.uid, spec.specName),
        staging_target_path: isBlock
          ? paths.blockStaging(spec.specName)
          : paths.staging(spec.driver, spec.volumeHandle),
        capacity_range: { required_bytes: requiredBytes.toString() },
        volume_capability: isBlock
          ? blockCapability(spec, multiWriter)
          : mountCapability(spec, multiWriter, ''),
        secrets,
      },
      context,
    );
  } catch (error) {
    const { errorClass, message, code } = stepErrorOf(error);
    const said = isInfeasible(code) ? '' : ' :';
    throw new StepError(
      errorClass,
      `Expander.NodeExpand failed to expand the volume${said} ${message}`,
      code,
    );
  }
}

/** @throws StepError when the claim's status cannot be written */
function mark({ api }: ExpandEnvironment, claim: PersistentVolumeClaim, doing = ''): void {
  const failure = api.failureOf('Patch', `${claimPath(claim)}/status`);
  if (failure !== undefined) throw new StepError('transient', `${doing}${failure}`);
}

/** The request has to be lowered: no try can help (node_expander.go). */
function isInfeasible(code: Code | undefined): boolean {
  return code === Code.INVALID_ARGUMENT || code === Code.OUT_OF_RANGE || code === Code.NOT_FOUND;
}
