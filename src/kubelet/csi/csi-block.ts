import * as fs from 'node:fs';
import * as path from 'node:path';
import { errnoOf, namesIn } from '../../util/files';
import { csiText, failedCall, StepError, stepErrorOf } from '../errors';
import { ensureKubeletFolder } from '../folders';
import type { Pod } from '../objects';
import { loadVolData, VOL_DATA_FILE, writeVolData } from '../vol-data';
import type { VolumeSpec } from '../volumemanager/spec';
import { blockCapability, nodeHas } from './capabilities';
import { multiWriterOf } from './csi-attacher';
import { podInfo } from './csi-mounter';
import {
  attachmentIdOf,
  type NodeEnvironment,
  openStep,
  publishContextOf,
  readSecret,
} from './node-environment';

/** csi_block.go, NewBlockVolumeMapper: writes down which volume it is before anything is asked. @throws StepError */
export function newMapper(env: NodeEnvironment, spec: VolumeSpec): void {
  const { paths, nodeName } = env;
  try {
    ensureKubeletFolder(paths.blockMap(spec.specName));
    writeVolData(paths.blockData(spec.specName), {
      attachmentID: attachmentIdOf(env, spec),
      driverName: spec.driver,
      nodeName,
      specVolID: spec.specName,
      volumeHandle: spec.volumeHandle,
    });
  } catch (error) {
    throw new StepError('final', `failed to save volume info data: ${(error as Error).message}`);
  }
  said(env, spec, `wrote ${path.join(paths.blockData(spec.specName), VOL_DATA_FILE)}`);
}

/** csi_block.go, SetUpDevice: what happens once for a raw block volume on a node. @throws StepError */
export async function setUpDevice(env: NodeEnvironment, spec: VolumeSpec): Promise<void> {
  const publishContext = fetched(env, () =>
    publishContextOf(env, spec, attachmentFailed('blockMapper.SetupDevice')),
  );
  const context = openStep(env, spec, 'blockMapper.SetUpDevice failed to get CSI client');
  const { paths, calls } = env;
  const stages = await nodeHas(calls, context, 'STAGE_UNSTAGE_VOLUME').catch((error) => {
    // Wrapped as a plain error on its way: it counts as final whatever its code.
    const text = 'blockMapper.stageVolumeForBlock failed to check STAGE_UNSTAGE_VOLUME capability';
    throw failedCall('final', csiText(text), error);
  });
  if (!stages) return;
  const staging = paths.blockStaging(spec.specName);
  try {
    const secrets = fetched(env, () =>
      readSecret(env, spec.nodeStageSecret, (secret) => {
        const text = `failed to get NodeStageSecretRef ${secret}`;
        return env.behaviour.blockFetchErrorIsFinal ? text : csiText(text);
      }),
    );
    ensureKubeletFolder(staging);
    const multiWriter = await multiWriterOf(env, context);
    await calls.call(
      'NodeStageVolume',
      {
        volume_id: spec.volumeHandle,
        publish_context: publishContext,
        staging_target_path: staging,
        volume_capability: blockCapability(spec, multiWriter),
        secrets,
        volume_context: { ...spec.volumeAttributes },
      },
      context,
    );
  } catch (error) {
    const failure = stepErrorOf(error);
    if (failure.errorClass === 'final') await cleanUpDeviceFiles(env, spec).catch(() => undefined);
    throw failure;
  }
}

/** csi_block.go, MapPodDevice. The driver makes what is at the path. @returns the path. @throws StepError */
export async function mapPodDevice(env: NodeEnvironment, spec: VolumeSpec, pod: Pod): Promise<string> {
  const publishContext = fetched(env, () =>
    publishContextOf(env, spec, attachmentFailed('blockMapper.MapPodDevice')),
  );
  const context = openStep(env, spec, 'blockMapper.MapPodDevice failed to get CSI client');
  const { paths, calls } = env;
  const target = paths.blockTarget(spec.specName, pod.meta.uid);
  const secrets = fetched(env, () =>
    readSecret(env, spec.nodePublishSecret, (secret) =>
      csiText(`blockMapper.publishVolumeForBlock failed to get NodePublishSecretRef ${secret}`),
    ),
  );
  ensureKubeletFolder(path.dirname(target));
  try {
    const multiWriter = await multiWriterOf(env, context);
    await calls.call(
      'NodePublishVolume',
      {
        volume_id: spec.volumeHandle,
        publish_context: publishContext,
        // Always, also for a driver that does not stage.
        staging_target_path: paths.blockStaging(spec.specName),
        target_path: target,
        volume_capability: blockCapability(spec, multiWriter),
        readonly: spec.readOnly,
        secrets,
        volume_context: { ...spec.volumeAttributes, ...podInfo(env, spec, pod) },
      },
      context,
    );
  } catch (error) {
    throw stepErrorOf(error);
  }
  return target;
}

function attachmentFailed(doing: string): (attachment: string) => string {
  return (attachment) => csiText(`${doing} failed to get volume attachment [id=${attachment}]: `);
}

/** What could not be read from the API server: an older kubelet takes it for a final error here. */
function fetched<T>({ behaviour }: NodeEnvironment, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = stepErrorOf(error);
    throw new StepError(behaviour.blockFetchErrorIsFinal ? 'final' : 'transient', message);
  }
}

/** csi_block.go, UnmapPodDevice. @throws StepError */
export async function unmapPodDevice(
  env: NodeEnvironment,
  spec: VolumeSpec,
  podUid: string,
  data: Record<string, string>,
): Promise<void> {
  const { driverName = spec.driver, volumeHandle = spec.volumeHandle } = data;
  const context = openStep(
    env,
    { ...spec, driver: driverName },
    'blockMapper.UnmapPodDevice failed to get CSI client',
  );
  const request = { volume_id: volumeHandle, target_path: env.paths.blockTarget(spec.specName, podUid) };
  await env.calls.call('NodeUnpublishVolume', request, context).catch((error) => {
    throw failedCall('uncertain', csiText('blockMapper.unpublishVolumeForBlock failed'), error);
  });
}

/** csi_block.go, TearDownDevice: unstages what has a staging folder, and removes all that is there of the volume. @throws Error */
export async function tearDownDevice(env: NodeEnvironment, spec: VolumeSpec): Promise<void> {
  const { paths, calls } = env;
  const staging = paths.blockStaging(spec.specName);
  if (fs.existsSync(staging)) {
    const { driverName = spec.driver, volumeHandle = spec.volumeHandle } = loadVolData(
      paths.blockData(spec.specName),
      'unmapper',
    );
    const context = openStep(
      env,
      { ...spec, driver: driverName },
      'blockMapper.TearDownDevice failed to get CSI client',
    );
    const request = { volume_id: volumeHandle, staging_target_path: staging };
    const stages = await nodeHas(calls, context, 'STAGE_UNSTAGE_VOLUME').catch((error) => {
      const text = 'blockMapper.unstageVolumeForBlock failed to check STAGE_UNSTAGE_VOLUME capability';
      throw failedCall('uncertain', csiText(text), error);
    });
    if (stages)
      await calls.call('NodeUnstageVolume', request, context).catch((error) => {
        throw failedCall('uncertain', csiText('blockMapper.unstageVolumeForBlock failed'), error);
      });
  }
  await cleanUpDeviceFiles(env, spec);
  said(env, spec, `removed ${staging} and ${paths.blockVolume(spec.specName)}`);
}

/** csi_block.go, cleanupOrphanDeviceFiles: what still holds something stays, and is an error. @throws Error */
async function cleanUpDeviceFiles(
  { paths, mounts }: NodeEnvironment,
  { specName }: VolumeSpec,
): Promise<void> {
  const staging = paths.blockStaging(specName);
  removeEmpty(path.dirname(paths.blockTarget(specName, '-')), 'failed to remove publish directory');
  if (await mounts.isMountPoint(staging).catch(() => true))
    throw new Error(`failed to delete staging dir [${staging}]: it is mounted`);
  fs.rmSync(staging, { recursive: true, force: true });
  if (namesIn(paths.blockMap(specName)).length > 0)
    throw new Error(`failed to remove volume directory [${paths.blockVolume(specName)}]: it is in use`);
  fs.rmSync(paths.blockVolume(specName), { recursive: true, force: true });
}

function removeEmpty(folder: string, doing: string): void {
  try {
    fs.rmdirSync(folder);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT')
      throw new Error(
        `${doing} [${folder}]: ${errnoOf(error) === 'ENOTEMPTY' ? 'directory not empty' : (error as Error).message}`,
      );
  }
}

function said(env: NodeEnvironment, spec: VolumeSpec, text: string): void {
  env.timeline.add({ who: 'kubelet', node: env.nodeName, kind: 'file', about: spec.specName, text });
}
