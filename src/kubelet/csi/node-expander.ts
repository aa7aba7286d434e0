import { Code } from '../../csi/status';
import { StepError, stepErrorOf } from '../errors';
import type { Events } from '../events';
import type { PersistentVolumeClaim, Pod } from '../objects';
import type { AttachedVolume } from '../volumemanager/actual-state-of-world';
import type { VolumeSpec } from '../volumemanager/spec';
import { blockCapability, mountCapability, nodeHas } from './capabilities';
import { multiWriterOf } from './csi-attacher';
import { type NodeEnvironment, openStep, readSecret } from './node-environment';

type ExpandEnvironment = NodeEnvironment & { readonly events: Events };

/** Whether the control plane has done its part and waits for the node (node_expander.go). */
export function isNodeExpansionWanted(claim: PersistentVolumeClaim): boolean {
  return claim.resizeStatus === 'NodeResizePending' || claim.resizeStatus === 'NodeResizeInProgress';
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
  const { api, events, calls, paths, nodeName } = env;
  const pv = api.volumeOf(claim);
  if (!pv || !isNodeExpansionWanted(claim) || volume.expandInUse) return;
  const source = { who: 'kubelet', node: nodeName } as const;
  const isBlock = spec.volumeMode === 'Block';
  const wanted = claim.allocatedBytes ?? pv.capacityBytes;
  if (spec.readOnly) {
    const text = `requested read-only file system`;
    events.emit(source, pod, 'Warning', 'FileSystemResizeFailed', text);
    events.emit(source, claim, 'Warning', 'FileSystemResizeFailed', text);
    return;
  }
  // Written into the claim before the driver is asked.
  mark(env, claim);
  const context = openStep(env, spec, 'Expander.NodeExpand failed to get CSI client');
  try {
    if (!(await nodeHas(calls, context, 'EXPAND_VOLUME')))
      throw new StepError('final', `NodeExpand is not supported by the CSI driver ${spec.driver}`);
    claim.resizeStatus = 'NodeResizeInProgress';
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
        capacity_range: { required_bytes: wanted.toString() },
        volume_capability: isBlock
          ? blockCapability(spec, multiWriter)
          : mountCapability(spec, multiWriter, ''),
        secrets: readSecret(
          env,
          spec.nodeExpandSecret,
          (secret) => `expander.NodeExpand failed to get NodeExpandSecretRef ${secret}`,
        ),
      },
      context,
    );
  } catch (error) {
    const failure = stepErrorOf(error);
    if (failure.code === Code.FAILED_PRECONDITION) {
      // "in use": the mount goes on, and nobody asks again until the volume is mounted anew.
      volume.expandInUse = true;
      env.timeline.log({
        who: 'kubelet',
        node: nodeName,
        about: spec.specName,
        text: `NodeExpandVolume: ${failure.message}; not asked again while the volume is mounted`,
      });
      return;
    }
    if (isInfeasible(failure.code) && !api.isDown) claim.resizeStatus = 'NodeResizeInfeasible';
    events.emit(
      source,
      pod,
      'Warning',
      'VolumeResizeFailed',
      `NodeExpandVolume failed for volume "${spec.specName}" : ${failure.message}`,
    );
    api.changed();
    if (isInfeasible(failure.code)) return;
    throw failure;
  }
  mark(env, claim, 'mountVolume.NodeExpandVolume update pvc status failed: ');
  claim.capacityBytes = wanted;
  claim.resizeStatus = undefined;
  claim.allocatedBytes = undefined;
  volume.capacityBytes = wanted;
  const text = `MountVolume.NodeExpandVolume succeeded for volume "${spec.specName}" ${nodeName}`;
  events.emit(source, pod, 'Normal', 'FileSystemResizeSuccessful', text);
  events.emit(source, claim, 'Normal', 'FileSystemResizeSuccessful', text);
  api.changed();
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
