import * as fs from 'node:fs';
import { csiText, failedCall, isFinalError, rpcErrorText, StepError, stepErrorOf } from '../errors';
import { ensureKubeletFolder } from '../folders';
import { readVolData, VOL_DATA_FILE, writeVolData } from '../vol-data';
import type { VolumeSpec } from '../volumemanager/spec';
import type { CallContext } from './calls';
import { mountCapability, nodeHas } from './capabilities';
import { type NodeEnvironment, openStep, publishContextOf, readSecret } from './node-environment';
import { removeMountDir } from './remove-mount-dir';

/** csi_attacher.go, MountDevice: what happens once for a volume on a node. @throws StepError */
export async function mountDevice(
  env: NodeEnvironment,
  spec: VolumeSpec,
  fsGroup: number | undefined,
): Promise<void> {
  const context = openStep(env, spec, 'attacher.MountDevice failed to create newCsiDriverClient');
  const { paths, calls, behaviour } = env;
  const staging = paths.staging(spec.driver, spec.volumeHandle);
  const folder = paths.globalVolume(spec.driver, spec.volumeHandle);
  const stages = await nodeHas(calls, context, 'STAGE_UNSTAGE_VOLUME').catch((error) => {
    throw capabilitiesError(env, error);
  });
  const publishContext = publishContextOf(env, spec, () => '');
  const secrets = stages
    ? readSecret(env, spec.nodeStageSecret, (secret) => `fetching NodeStageSecretRef ${secret} failed`)
    : {};
  makeFolder(staging);
  if (behaviour.globalJsonWithoutStaging) writeGlobal(env, spec, folder);
  if (!stages) return;
  const mountGroup = await groupFor(env, context, fsGroup, 'attacher.MountDevice');
  if (!behaviour.globalJsonWithoutStaging) writeGlobal(env, spec, folder);
  try {
    const multiWriter = await multiWriterOf(env, context);
    await calls.call(
      'NodeStageVolume',
      {
        volume_id: spec.volumeHandle,
        publish_context: publishContext,
        staging_target_path: staging,
        volume_capability: mountCapability(spec, multiWriter, mountGroup),
        secrets,
        volume_context: { ...spec.volumeAttributes },
      },
      context,
    );
  } catch (error) {
    const failure = stepErrorOf(error);
    // A final error says that nothing is there: the folder goes, unless something is mounted on it all the same.
    if (failure.errorClass === 'final') await removeMountDir(env.mounts, staging).catch(() => undefined);
    throw failure;
  }
}

/** SINGLE_NODE_MULTI_WRITER, asked by the client as part of the call: its error is the call's. @throws StepError */
export async function multiWriterOf(env: NodeEnvironment, context: CallContext): Promise<boolean> {
  return nodeHas(env.calls, context, 'SINGLE_NODE_MULTI_WRITER').catch((error) => {
    throw capabilitiesError(env, error);
  });
}

/** The group as a number in text where the driver applies it itself, or ''. `doing` begins the text. @throws StepError transient */
export async function groupFor(
  env: NodeEnvironment,
  context: CallContext,
  fsGroup: number | undefined,
  doing: string,
): Promise<string> {
  const delegated = await nodeHas(env.calls, context, 'VOLUME_MOUNT_GROUP').catch((error) => {
    const text = `${doing} failed to determine if the node service has VOLUME_MOUNT_GROUP capability`;
    throw failedCall('transient', csiText(text), error);
  });
  return delegated && fsGroup !== undefined ? String(fsGroup) : '';
}

/** As the client tells it: an older kubelet takes an open code here for a plain error, and that for a final one. */
function capabilitiesError(env: NodeEnvironment, error: unknown): StepError {
  const errorClass = env.behaviour.capabilitiesErrorIsFinal || isFinalError(error) ? 'final' : 'uncertain';
  return new StepError(errorClass, rpcErrorText(error), stepErrorOf(error).code);
}

function makeFolder(folder: string): void {
  try {
    ensureKubeletFolder(folder);
  } catch (error) {
    throw new StepError(
      'final',
      csiText(`attacher.MountDevice failed to create dir "${folder}":  ${(error as Error).message}`),
    );
  }
}

function writeGlobal(env: NodeEnvironment, spec: VolumeSpec, folder: string): void {
  writeVolData(folder, { driverName: spec.driver, volumeHandle: spec.volumeHandle });
  said(env, spec, `wrote ${folder}/${VOL_DATA_FILE}`);
}

/**
 * csi_attacher.go, UnmountDevice. Which volume it is, the global vol_data.json tells; without one nothing was staged.
 * @returns what was left behind, if anything. @throws StepError
 */
export async function unmountDevice(env: NodeEnvironment, spec: VolumeSpec): Promise<string | undefined> {
  const { paths, calls, mounts } = env;
  const staging = paths.staging(spec.driver, spec.volumeHandle);
  const folder = paths.globalVolume(spec.driver, spec.volumeHandle);
  // Not even the folder is removed then: what a driver that does not stage has of it stays, empty.
  if (!fs.existsSync(`${folder}/${VOL_DATA_FILE}`)) return undefined;
  const { driverName = spec.driver, volumeHandle = spec.volumeHandle } = readVolData(folder);
  const context = openStep(
    env,
    { ...spec, driver: driverName },
    'attacher.UnmountDevice failed to create newCsiDriverClient',
  );
  const stages = await nodeHas(calls, context, 'STAGE_UNSTAGE_VOLUME').catch((error) => {
    const text = 'attacher.UnmountDevice failed to check whether STAGE_UNSTAGE_VOLUME set';
    throw failedCall('uncertain', csiText(text), error);
  });
  if (stages) {
    const request = { volume_id: volumeHandle, staging_target_path: staging };
    await calls.call('NodeUnstageVolume', request, context).catch((error) => {
      throw failedCall('uncertain', csiText('attacher.UnmountDevice failed'), error);
    });
  }
  const removed = await removeMountDir(mounts, staging).catch((error: Error) => {
    throw new Error(csiText(`failed to clean up global mount ${folder}: ${error.message}`));
  });
  if (removed === 'removed') {
    said(env, spec, `removed ${staging} and ${folder}/${VOL_DATA_FILE}`);
    return undefined;
  }
  return `something is still mounted at ${staging}: it was left, and nobody will look there again`;
}

function said(env: NodeEnvironment, spec: VolumeSpec, text: string): void {
  env.timeline.add({ who: 'kubelet', node: env.nodeName, kind: 'file', about: spec.specName, text });
}
