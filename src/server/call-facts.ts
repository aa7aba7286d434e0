import { SERVICE_ACCOUNT_TOKENS } from '../csi/context-keys';
import { schemaEnums } from '../csi/gen/schema';
import { redactRequest } from '../csi/redact';
import type { Method, RequestOf } from '../csi/rpcs';
import { subjectOf } from '../csi/rpcs';
import type { PodNames, PvcNames } from '../journal/entry';
import type { CallFacts, PodFacts, VolumeFacts } from '../scenarios/engine/facts';
import type { VolumeState } from '../scenarios/model';
import type { Env } from '../services/env';
import { volumeIdFor } from '../services/names';
import { once } from '../util/once';
import type { VolumeRecord } from '../volumes/records';

const POD = 'csi.storage.k8s.io/pod.';
const PVC = 'csi.storage.k8s.io/pvc/';
const SERVICE_ACCOUNT = 'csi.storage.k8s.io/serviceAccount.name';

const MODE_NAMES = new Map(
  Object.entries(schemaEnums['csi.v1.VolumeCapability.AccessMode.Mode'] ?? {}).map(([name, number]) => [
    number,
    name,
  ]),
);

/** What of any request says something of a volume; each has some of these fields. */
interface AnyRequest {
  name?: string;
  parameters?: Record<string, string>;
  volume_context?: Record<string, string>;
  volume_capability?: Capability | null;
  volume_capabilities?: Capability[];
  capacity_range?: { required_bytes?: string } | null;
}
interface Capability {
  block?: object | null;
  mount?: { fs_type?: string } | null;
  access_mode?: { mode?: number } | null;
}

/** A call on its arrival, for rules and for the journal: what both ask for is found out once. */
export interface KnownCall extends CallFacts {
  /** Its Kubernetes names: people look for their claim, not for a volume id. */
  names(): { pvc?: PvcNames; pod?: PodNames };
}

/** Kubernetes allows names no longer; whoever sends more must not fill the journal with it. */
const MAX_NAME = 253;

/** What is known of a call on its arrival: from its request, the volume's record and this node's records. */
export function factsOf<M extends Method>(env: Env, id: number, method: M, request: RequestOf<M>): KnownCall {
  const { volumeId, nodeId } = subjectOf(method, request);
  const asked = request as AnyRequest;
  const subject = once(() => (method === 'CreateVolume' ? volumeIdFor(asked.name ?? '') : volumeId));
  const record = once(() => findVolume(env, subject()));
  const pod = once(() => podFacts(env, method, request));
  return {
    id,
    method,
    // Whom an attach is about, or who serves the call.
    nodeId: nodeId ?? env.node?.record.id ?? '',
    get volumeId() {
      return subject();
    },
    volume: once(() => volumeFacts(env, subject(), request, record(), nodeId ?? env.node?.record.id ?? '')),
    pod,
    plainRequest: once(() => redactRequest(method, request)),
    names: () => {
      const { namespace, name } =
        volumeId === undefined ? claimOf(asked.parameters ?? {}) : (record()?.claim ?? {});
      return {
        ...(name !== undefined && { pvc: short({ namespace, name }) }),
        ...(pod()?.name !== undefined && {
          pod: short({ namespace: pod()?.namespace, name: pod()?.name, uid: pod()?.uid }),
        }),
      };
    },
  };
}

function short(names: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([part, name]) =>
      name === undefined ? [] : [[part, name.slice(0, MAX_NAME)]],
    ),
  );
}

/** A broken record is what the call itself will meet; here it only means that nothing is known. */
function findVolume(env: Env, id: string | undefined): VolumeRecord | undefined {
  if (id === undefined) return undefined;
  try {
    return env.volumes.find(id);
  } catch {
    return undefined;
  }
}

function volumeFacts(
  env: Env,
  id: string | undefined,
  request: object,
  record: VolumeRecord | undefined,
  nodeId: string,
): VolumeFacts | undefined {
  if (id === undefined) return undefined;
  const asked = request as AnyRequest;
  const stage = env.node?.store.stage(id);
  const capabilities = [
    ...(asked.volume_capability ? [asked.volume_capability] : []),
    ...(asked.volume_capabilities ?? []),
  ];
  const { [SERVICE_ACCOUNT_TOKENS]: _tokens, ...context } = asked.volume_context ?? {};
  const parameters = { ...record?.parameters, ...record?.mutable, ...asked.parameters };
  const block =
    capabilities.length > 0
      ? capabilities.some((capability) => !!capability.block)
      : stage?.capability.accessType === 'block' || record?.accessTypes.join() === 'block';
  const required = asked.capacity_range?.required_bytes;
  return {
    id,
    name: record?.name ?? asked.name ?? id,
    pvc: record?.claim ?? claimOf(parameters),
    storageClass: parameters.storageClass,
    parameters,
    attributes: { ...record?.context, ...record?.attributes, ...context },
    fsType: block ? undefined : fsTypeOf(env, capabilities, record, stage?.fsType),
    accessModes: modesOf(capabilities, stage?.capability.accessMode),
    block,
    capacityBytes: record ? BigInt(record.capacityBytes) : required ? BigInt(required) : undefined,
    states: statesOf(env, id, record),
    ...(record && { since: sinceOf(record, nodeId) }),
  };
}

/** An attachment to the node that the call is about, else the newest. */
function sinceOf(
  { createdAt, attachments }: VolumeRecord,
  nodeId: string,
): NonNullable<VolumeFacts['since']> {
  const here = Object.hasOwn(attachments, nodeId) ? attachments[nodeId] : undefined;
  const times = (here ? [here] : Object.values(attachments)).map(({ attachedAt }) => Date.parse(attachedAt));
  return { created: timeOf(createdAt), attached: times.length > 0 ? timeOf(Math.max(...times)) : undefined };
}

/** A record may have been written by hand. */
function timeOf(written: string | number): number | undefined {
  const ms = new Date(written).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

function fsTypeOf(
  env: Env,
  capabilities: readonly Capability[],
  record: VolumeRecord | undefined,
  staged: string | undefined,
): string {
  const asked = capabilities.find(({ mount }) => mount?.fs_type)?.mount?.fs_type;
  return asked || record?.fsType || staged || env.settings.defaultFsType;
}

function modesOf(capabilities: readonly Capability[], staged: number | undefined): string[] {
  const modes = capabilities.map(({ access_mode }) => access_mode?.mode ?? 0);
  if (modes.length === 0 && staged !== undefined) modes.push(staged);
  return modes.map((mode) => MODE_NAMES.get(mode) ?? `${mode}`);
}

/** As this process sees it, from the least to the most. */
function statesOf(env: Env, id: string, record: VolumeRecord | undefined): VolumeState[] {
  const states: VolumeState[] = [];
  if (record) states.push('created');
  if (record && Object.keys(record.attachments).length > 0) states.push('attached');
  if (env.node?.store.stage(id)) states.push('staged');
  if (env.node && [...env.node.store.publicationsOf(id)].length > 0) states.push('published');
  return states;
}

function claimOf(parameters: Record<string, string>): PvcNames {
  const name = parameters[`${PVC}name`];
  const namespace = parameters[`${PVC}namespace`];
  return { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
}

/** From the call itself, or from what the publish of the same target said. */
function podFacts(env: Env, method: Method, request: object): PodFacts | undefined {
  const { target_path, volume_path, volume_context } = request as {
    target_path?: string;
    volume_path?: string;
    volume_context?: Record<string, string>;
  };
  const path = target_path || volume_path;
  const context =
    method === 'NodePublishVolume'
      ? (volume_context ?? {})
      : path === undefined
        ? {}
        : (env.node?.store.publication(path)?.pod ?? {});
  const pod: Record<string, string> = {};
  for (const part of ['name', 'namespace', 'uid'] as const) {
    const value = context[`${POD}${part}`];
    if (value !== undefined) pod[part] = value;
  }
  const account = context[SERVICE_ACCOUNT];
  if (account !== undefined) pod.serviceAccount = account;
  return Object.keys(pod).length > 0 ? pod : undefined;
}
