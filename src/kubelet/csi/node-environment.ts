import type { Clock } from '../../util/clock';
import type { ApiServer } from '../api-server';
import { CSI_TIMEOUT_MS } from '../constants';
import { csiText, StepError } from '../errors';
import { type KubeletPaths, volumeAttachmentName } from '../names';
import type { SecretReference, VolumeAttachment } from '../objects';
import type { ServiceAccountTokens } from '../service-account-tokens';
import type { Timeline } from '../timeline/timeline';
import type { Behaviour } from '../versions';
import { isAttachable, type VolumeSpec } from '../volumemanager/spec';
import type { CallContext, CsiCalls } from './calls';
import type { MountView } from './mount-view';

/** What the kubelet's CSI plugin works with on one node. */
export interface NodeEnvironment {
  readonly nodeName: string;
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly paths: KubeletPaths;
  readonly mounts: MountView;
  readonly calls: CsiCalls;
  readonly behaviour: Behaviour;
  readonly tokens: ServiceAccountTokens;
  isRegistered(driver: string): boolean;
}

/**
 * One context of two minutes for all calls of a step.
 * @throws StepError transient when the driver is not registered; `doing` begins its text
 */
export function openStep(env: NodeEnvironment, spec: VolumeSpec, doing?: string): CallContext {
  if (env.isRegistered(spec.driver)) return env.calls.context(CSI_TIMEOUT_MS, spec.specName, spec.driver);
  const text = `driver name ${spec.driver} not found in the list of registered CSI drivers`;
  throw new StepError('transient', doing === undefined ? text : `${csiText(doing)}: ${text}`);
}

/** From the API server each time, never from a cache. `doing` begins the text. @throws StepError transient */
export function readSecret(
  env: NodeEnvironment,
  reference: SecretReference | undefined,
  doing: (reference: string) => string,
): Record<string, string> {
  if (!reference) return {};
  const { namespace, name } = reference;
  const failure = env.api.failureOf('Get', `/api/v1/namespaces/${namespace}/secrets/${name}`);
  const secret = env.api.secrets.get(`${namespace}/${name}`);
  if (secret && failure === undefined) return { ...secret.data };
  throw new StepError(
    'transient',
    `${doing(`${namespace}/${name}`)}: ${csiText(`failed to find the secret ${name} in the namespace ${namespace} with error: ${failure ?? `secrets "${name}" not found`}`)}`,
  );
}

/**
 * What the attacher was told at attach; empty for a driver that is not attached. `doing` begins the text of an error.
 * @throws StepError transient
 */
export function publishContextOf(
  env: NodeEnvironment,
  spec: VolumeSpec,
  doing: (attachment: string) => string,
): Record<string, string> {
  if (!isAttachable(env.api, spec)) return {};
  return { ...getAttachment(env, spec, doing).attachmentMetadata };
}

function getAttachment(
  env: NodeEnvironment,
  spec: VolumeSpec,
  doing: (attachment: string) => string,
): VolumeAttachment {
  const name = attachmentIdOf(env, spec);
  const failure = env.api.failureOf('Get', `/apis/storage.k8s.io/v1/volumeattachments/${name}`);
  const attachment = env.api.attachments.get(name);
  if (attachment && failure === undefined) return attachment;
  throw new StepError(
    'transient',
    `${doing(name)}${failure ?? `volumeattachments.storage.k8s.io "${name}" not found`}`,
  );
}

export function attachmentIdOf(env: NodeEnvironment, spec: VolumeSpec): string {
  return volumeAttachmentName(spec.volumeHandle, spec.driver, env.nodeName);
}

/** One look, no waiting, whatever timeout it is given (csi_attacher.go, WaitForAttach). @throws StepError */
export function waitForAttach(env: NodeEnvironment, spec: VolumeSpec): void {
  if (!isAttachable(env.api, spec)) return;
  const { meta, attached, attachError, deletionTimestamp } = getAttachment(
    env,
    spec,
    (name) => `volume ${spec.volumeHandle} has GET error for volume attachment ${name}: `,
  );
  if (deletionTimestamp !== undefined) throw new StepError('transient', 'volume attachment is being deleted');
  if (attached) return;
  throw new StepError(
    'transient',
    attachError ?? `volume ${spec.volumeHandle} is not attached for volume attachment ${meta.name}`,
  );
}
