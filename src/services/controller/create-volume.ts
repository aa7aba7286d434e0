import type { AccessType, Backend, BytesAt } from '../../backends/backend';
import type { RequestOf } from '../../csi/rpcs';
import { alreadyExists, failedPrecondition, invalidArgument, outOfRange } from '../../csi/status';
import { volumePaths } from '../../volumes/layout';
import { RECORD_VERSION, type VolumeRecord } from '../../volumes/records';
import type { Env, Handler } from '../env';
import { volumeIdFor } from '../names';
import { readVolumeParameters, type VolumeParameters } from '../parameters';
import { volumeReply } from '../replies';
import { pickBackend } from '../resolve';
import { holdStill } from '../still';
import { recordOf } from '../volume-capability';
import { findSource, readSource, type Source } from './content-source';
import { isSatisfiedBy, place } from './topology';

type Request = RequestOf<'CreateVolume'>;

export const createVolume: Handler<'CreateVolume'> = async (env, request, call) => {
  const parameters = readVolumeParameters(request.parameters, request.mutable_parameters);
  const existing = env.volumes.find(volumeIdFor(request.name));
  if (existing) {
    checkCompatible(existing, request, parameters);
    return { volume: volumeReply(env, existing) };
  }
  const volume = await plan(env, request, parameters);
  const backend = pickBackend(env, volume.backend);
  const release = env.pool.reserve(BigInt(volume.capacityBytes));
  let folder: string | undefined;
  try {
    await call.point('beforeCreate');
    folder = await env.volumes.begin(volume.id);
    await makeBytes(env, backend, volume, volumePaths(folder));
    await call.point('bytesMade');
    await env.volumes.commit(volume, folder);
    call.effect(`made ${env.layout.volume(volume.id).folder}`);
  } catch (error) {
    if (folder !== undefined) await env.volumes.abandon(folder).catch(() => undefined);
    throw error;
  } finally {
    release();
  }
  return { volume: volumeReply(env, volume) };
};

async function plan(env: Env, request: Request, parameters: VolumeParameters): Promise<VolumeRecord> {
  const source = await findSource(env, readSource(request.volume_content_source));
  const backend = pickBackend(env, parameters.backend ?? source?.backend);
  if (source && source.backend !== backend.name)
    throw invalidArgument(
      `volume_content_source: it is of backend ${source.backend}, parameters ask for ${backend.name}; a copy keeps its backend`,
    );
  const capabilities = request.volume_capabilities.map(recordOf);
  const accessTypes = [...new Set(capabilities.map((capability) => capability.accessType))];
  for (const type of accessTypes)
    if (!backend.accessTypes.includes(type))
      throw invalidArgument(
        `volume_capabilities: backend ${backend.name} has ${backend.accessTypes.join(' and ')} volumes, found ${type}`,
      );
  const named = capabilities.map((capability) => capability.fsType).filter((fsType) => fsType !== '');
  for (const fsType of named) backend.chooseFsType(fsType);
  const other = named.find((fsType) => fsType !== named[0]);
  if (other !== undefined)
    throw invalidArgument(
      `volume_capabilities: a volume has one filesystem, found fs_type ${named[0]} and ${other}`,
    );
  const wanted = named[0] ?? parameters.fsType ?? '';
  const fsType = source?.fsType || (wanted === '' ? '' : backend.chooseFsType(wanted));
  const context: Record<string, string> = { backend: backend.name };
  if (parameters.own.scenario !== undefined) context.scenario = parameters.own.scenario;
  const record: VolumeRecord = {
    version: RECORD_VERSION,
    id: volumeIdFor(request.name),
    name: request.name,
    sequence: env.volumes.takeSequence(),
    origin: 'created',
    createdAt: new Date(env.clock.now()).toISOString(),
    capacityBytes: `${chooseSize(env, request, backend, fsType, accessTypes, source)}`,
    backend: backend.name,
    fsType,
    accessTypes,
    parameters: parameters.own,
    requestedMutable: parameters.mutable,
    mutable: parameters.mutable,
    context,
    topology: await place(env, request.accessibility_requirements),
    claim: parameters.claim,
    attachments: {},
  };
  if (source) {
    const { kind, id, createdAt } = source;
    record.source = { kind, id, ...(createdAt !== undefined && { createdAt }) };
  }
  return record;
}

function range(request: Request): { required: bigint; limit: bigint } {
  return {
    required: BigInt(request.capacity_range?.required_bytes ?? 0),
    limit: BigInt(request.capacity_range?.limit_bytes ?? 0),
  };
}

/** @throws CsiError OUT_OF_RANGE when no size fits the range, the source and the filesystem at once. */
function chooseSize(
  env: Env,
  request: Request,
  backend: Backend,
  fsType: string,
  accessTypes: readonly AccessType[],
  source: Source | undefined,
): bigint {
  const { required, limit } = range(request);
  const { defaultSizeBytes, maxVolumeBytes } = env.settings;
  // A size of our own choice keeps to every limit; only what was asked for can be out of range.
  const bounds = [defaultSizeBytes, maxVolumeBytes, ...(limit > 0n ? [limit] : [])];
  let size = required > 0n ? required : bounds.reduce((least, bound) => (bound < least ? bound : least));
  let reason = '';
  const atLeast = (bytes: bigint, why: string) => {
    if (bytes > size) {
      size = bytes;
      reason = why;
    }
  };
  if (source) atLeast(source.sizeBytes, `the ${source.kind} ${source.id} has that size`);
  for (const type of accessTypes)
    atLeast(
      backend.limits(fsType, type).minimum,
      `${type === 'mount' ? backend.chooseFsType(fsType) : type} needs it`,
    );
  if (limit > 0n && size > limit)
    throw outOfRange(
      `capacity_range: at least ${size} bytes are needed (${reason}), limit_bytes is ${limit}`,
    );
  if (size > maxVolumeBytes)
    throw outOfRange(`capacity_range: at most ${maxVolumeBytes} bytes, found ${size}`);
  return size;
}

async function makeBytes(env: Env, backend: Backend, volume: VolumeRecord, paths: BytesAt): Promise<void> {
  const capacity = BigInt(volume.capacityBytes);
  const never = new AbortController().signal;
  if (!volume.source) return backend.create(paths, capacity, undefined, never);
  // A client that gives up will ask again: the copy goes on, so that the retry finds it done.
  if (volume.source.kind === 'snapshot')
    return backend.create(paths, capacity, env.layout.snapshot(volume.source.id), never);
  const original = env.volumes.find(volume.source.id);
  if (!original) throw failedPrecondition(`volume ${volume.source.id} was deleted while it was being cloned`);
  await holdStill(env, [original], async () => {
    await backend.copy(original, env.layout.volume(original.id), paths, never);
  });
  await backend.grow(paths, volume, capacity);
}

/** The same name again: everything that was asked for then must hold now (CSI 1.12, CreateVolume). */
function checkCompatible(volume: VolumeRecord, request: Request, parameters: VolumeParameters): void {
  const clash = (what: string, has: unknown, asked: unknown) =>
    alreadyExists(
      `volume ${volume.id} (${JSON.stringify(volume.name)}) exists with ${what} ${JSON.stringify(has)}, asked for ${JSON.stringify(asked)}`,
    );
  const { required, limit } = range(request);
  const capacity = BigInt(volume.capacityBytes);
  if (required > capacity || (limit > 0n && limit < capacity))
    throw clash('capacity', volume.capacityBytes, { required_bytes: `${required}`, limit_bytes: `${limit}` });
  for (const capability of request.volume_capabilities.map(recordOf)) {
    if (!volume.accessTypes.includes(capability.accessType))
      throw clash('access types', volume.accessTypes, capability.accessType);
    if (capability.fsType !== '' && !volume.source && capability.fsType !== volume.fsType)
      throw clash('fs_type', volume.fsType, capability.fsType);
  }
  if (!sameMap(volume.parameters, parameters.own))
    throw clash('parameters', volume.parameters, parameters.own);
  if (!sameMap(volume.requestedMutable, parameters.mutable))
    throw clash('mutable parameters', volume.requestedMutable, parameters.mutable);
  const source = readSource(request.volume_content_source);
  if (volume.source?.id !== source?.id || volume.source?.kind !== source?.kind)
    throw clash('content source', volume.source ?? null, source ?? null);
  if (!isSatisfiedBy(request.accessibility_requirements, volume.topology))
    throw clash('topology', volume.topology, request.accessibility_requirements?.requisite);
}

function sameMap(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
  );
}
