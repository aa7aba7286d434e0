import * as path from 'node:path';
import { csiText, failedCall, StepError, stepErrorOf } from '../errors';
import { ensureKubeletFolder } from '../folders';
import type { Pod } from '../objects';
import { TOKENS_KEY } from '../service-account-tokens';
import { VOL_DATA_FILE, writeVolData } from '../vol-data';
import type { VolumeSpec } from '../volumemanager/spec';
import { mountCapability, nodeHas } from './capabilities';
import { groupFor, multiWriterOf } from './csi-attacher';
import { applyFsGroup, isOwnershipApplied } from './fs-group';
import {
  attachmentIdOf,
  type NodeEnvironment,
  openStep,
  publishContextOf,
  readSecret,
} from './node-environment';
import { removeMountDir } from './remove-mount-dir';

export interface SetUpOptions {
  /** The target is mounted already: the driver asked for another NodePublishVolume (requiresRepublish). */
  readonly isRemount: boolean;
  /** Known from vol_data.json alone. */
  readonly reconstructed: boolean;
}

/** csi_mounter.go, SetUpAt: what happens for each pod. @throws StepError */
export async function setUp(
  env: NodeEnvironment,
  spec: VolumeSpec,
  pod: Pod,
  options: SetUpOptions,
): Promise<void> {
  const context = openStep(env, spec, 'mounter.SetUpAt failed to get CSI client');
  const { paths, calls } = env;
  checkLifecycle(env, spec);
  const target = paths.target(pod.meta.uid, spec.specName);
  const folder = path.dirname(target);
  const isPersistent = spec.lifecycleMode === 'Persistent';
  let stages = false;
  if (isPersistent)
    stages = await nodeHas(calls, context, 'STAGE_UNSTAGE_VOLUME').catch((error) => {
      // Wrapped as a plain error on its way: it counts as final whatever its code.
      const text = 'mounter.SetUpAt failed to check for STAGE_UNSTAGE_VOLUME capability';
      throw failedCall('final', csiText(text), error);
    });
  const publishContext = isPersistent
    ? publishContextOf(env, spec, () => csiText('mounter.SetUpAt failed to fetch publishContext: '))
    : {};
  makeParent(folder);
  const secrets = readSecret(
    env,
    spec.nodePublishSecret,
    (secret) => `fetching NodePublishSecretRef ${secret} failed`,
  );
  const tokens = tokensFor(env, spec, pod);
  const mountGroup = await groupFor(env, context, pod.fsGroup, 'mounter.SetUpAt');
  writePodData(env, spec, folder);
  try {
    const multiWriter = await multiWriterOf(env, context);
    await calls.call(
      'NodePublishVolume',
      {
        volume_id: spec.volumeHandle,
        publish_context: publishContext,
        ...(stages && { staging_target_path: paths.staging(spec.driver, spec.volumeHandle) }),
        target_path: target,
        volume_capability: mountCapability(spec, multiWriter, mountGroup),
        readonly: spec.readOnly,
        secrets: { ...secrets, ...tokens.secrets },
        volume_context: { ...spec.volumeAttributes, ...podInfo(env, spec, pod), ...tokens.context },
      },
      context,
    );
  } catch (error) {
    const failure = stepErrorOf(error);
    if (failure.errorClass === 'final') await forgetTarget(env, target, options);
    throw failure;
  }
  if (
    pod.fsGroup !== undefined &&
    mountGroup === '' &&
    isOwnershipApplied(env.api.csiDrivers.get(spec.driver), spec)
  )
    applyFsGroup(target, pod.fsGroup, pod.fsGroupChangePolicy, spec);
}

/** A final error says that nothing is there: the target goes, unless something is mounted on it all the same. */
async function forgetTarget(env: NodeEnvironment, target: string, options: SetUpOptions): Promise<void> {
  const { behaviour, mounts } = env;
  if (options.isRemount && !behaviour.failedRepublishRemovesTarget) return;
  if (options.reconstructed && !behaviour.finalErrorDropsReconstructedJson) return;
  if (await mounts.isMountPoint(target).catch(() => true)) return;
  await removeMountDir(mounts, target).catch(() => undefined);
}

function checkLifecycle(env: NodeEnvironment, spec: VolumeSpec): void {
  const driver = env.api.csiDrivers.get(spec.driver);
  const modes = driver?.volumeLifecycleModes ?? ['Persistent'];
  if (modes.includes(spec.lifecycleMode)) return;
  const listed = modes.map((mode) => `"${mode}"`).join(' ');
  const supported = driver ? `only supports [${listed}]` : 'no CSIDriver object';
  throw new StepError(
    'transient',
    csiText(
      `mounter.SetupAt failed to check volume lifecycle mode: volume mode "${spec.lifecycleMode}" not supported by driver ${spec.driver} (${supported})`,
    ),
  );
}

/** The driver makes `mount`; the kubelet makes what it is in, also when nothing comes of the mount. @throws StepError */
function makeParent(folder: string): void {
  try {
    ensureKubeletFolder(folder);
  } catch (error) {
    const text = `mounter.SetUpAt failed to create dir "${folder}":  ${(error as Error).message}`;
    throw new StepError('final', csiText(text));
  }
}

function writePodData(env: NodeEnvironment, spec: VolumeSpec, folder: string): void {
  try {
    writeVolData(folder, {
      attachmentID: attachmentIdOf(env, spec),
      driverName: spec.driver,
      nodeName: env.nodeName,
      specVolID: spec.specName,
      volumeHandle: spec.volumeHandle,
      volumeLifecycleMode: spec.lifecycleMode,
    });
  } catch (error) {
    const text = `failed to save volume data file ${path.join(folder, VOL_DATA_FILE)}: ${(error as Error).message}`;
    throw new StepError('final', csiText(text));
  }
  said(env, spec, `wrote ${path.join(folder, VOL_DATA_FILE)}`);
}

/** What the driver is told of the pod, where CSIDriver.spec.podInfoOnMount asks for it. Its own keys are overwritten. */
export function podInfo(env: NodeEnvironment, spec: VolumeSpec, pod: Pod): Record<string, string> {
  if (env.api.csiDrivers.get(spec.driver)?.podInfoOnMount !== true) return {};
  return {
    'csi.storage.k8s.io/pod.name': pod.meta.name,
    'csi.storage.k8s.io/pod.namespace': pod.meta.namespace,
    'csi.storage.k8s.io/pod.uid': pod.meta.uid,
    'csi.storage.k8s.io/serviceAccount.name': pod.serviceAccountName,
    'csi.storage.k8s.io/ephemeral': String(spec.lifecycleMode === 'Ephemeral'),
  };
}

/** Tokens of the pod's service account, where CSIDriver.spec.tokenRequests asks for them. @throws StepError transient */
function tokensFor(
  { api, behaviour, tokens }: NodeEnvironment,
  spec: VolumeSpec,
  pod: Pod,
): { context?: Record<string, string>; secrets?: Record<string, string> } {
  const driver = api.csiDrivers.get(spec.driver);
  let text: string | undefined;
  try {
    text = tokens.textFor(driver, pod);
  } catch (error) {
    throw new StepError(
      'transient',
      csiText(`mounter.SetUpAt failed to get service accoount token attributes: ${(error as Error).message}`),
    );
  }
  if (text === undefined) return {};
  const inSecrets = behaviour.tokensInSecrets && driver?.serviceAccountTokenInSecrets === true;
  return { [inSecrets ? 'secrets' : 'context']: { [TOKENS_KEY]: text } };
}

/**
 * csi_mounter.go, TearDownAt: no capability is asked for.
 * @returns what was left behind, if anything. @throws StepError
 */
export async function tearDown(
  env: NodeEnvironment,
  spec: VolumeSpec,
  podUid: string,
  data: Record<string, string>,
): Promise<string | undefined> {
  const { driverName = spec.driver, volumeHandle = spec.volumeHandle } = data;
  const context = openStep(
    env,
    { ...spec, driver: driverName },
    'Unmounter.TearDownAt failed to get CSI client',
  );
  const target = env.paths.target(podUid, spec.specName);
  const request = { volume_id: volumeHandle, target_path: target };
  await env.calls.call('NodeUnpublishVolume', request, context).catch((error) => {
    throw failedCall('uncertain', csiText('Unmounter.TearDownAt failed'), error);
  });
  const removed = await removeMountDir(env.mounts, target).catch((error: Error) => {
    throw new Error(csiText(`Unmounter.TearDownAt failed to clean mount dir [${target}]: ${error.message}`));
  });
  if (removed === 'removed') {
    said(env, spec, `removed ${target} and ${path.join(path.dirname(target), VOL_DATA_FILE)}`);
    return undefined;
  }
  return `something is still mounted at ${target}: the kubelet forgets it, and the pod waits for it to go`;
}

function said(env: NodeEnvironment, spec: VolumeSpec, text: string): void {
  env.timeline.add({ who: 'kubelet', node: env.nodeName, kind: 'file', about: spec.specName, text });
}
