import type { BackendName } from '../backends/backend';
import { Code, CsiError, failedPrecondition, invalidArgument, notFound } from '../csi/status';
import { HostError } from '../host/host';
import { errnoOf } from '../util/files';
import { parseQuantity } from '../util/quantity';
import { volumePaths } from '../volumes/layout';
import {
  RECORD_VERSION,
  type SnapshotRecord,
  type VolumeOrigin,
  type VolumeRecord,
} from '../volumes/records';
import { backendOf, type Env } from './env';
import { readAttributes, withoutKubernetes } from './parameters';
import { stagedElsewhere } from './staged-elsewhere';

/** @throws CsiError NOT_FOUND */
export async function findVolume(env: Env, id: string): Promise<VolumeRecord> {
  const volume = env.volumes.find(id);
  if (!volume) throw notFound(`volume ${JSON.stringify(id)} does not exist`);
  return volume;
}

/** @throws CsiError NOT_FOUND */
export async function findSnapshot(env: Env, id: string): Promise<SnapshotRecord> {
  const snapshot = env.snapshots.find(id);
  if (!snapshot) throw notFound(`snapshot ${JSON.stringify(id)} does not exist`);
  return snapshot;
}

/**
 * A volume a CO wants to use. One that nobody created but whose context carries a `size` is a static PersistentVolume,
 * made here and now.
 * @throws CsiError NOT_FOUND, or INVALID_ARGUMENT when the context contradicts the volume.
 */
export async function resolveVolume(
  env: Env,
  id: string,
  context: Record<string, string>,
): Promise<VolumeRecord> {
  const volume = env.volumes.find(id);
  if (volume) {
    checkContext(volume, context);
    return volume;
  }
  if (context.size === undefined)
    throw notFound(
      `volume ${JSON.stringify(id)} does not exist; a static PersistentVolume needs a size in its volumeAttributes, for example size: 1Gi`,
    );
  return makeVolume(env, id, 'static', context);
}

/**
 * Runs what may make a static volume. When that is refused the volume was never used: it goes again, or its attributes would
 * stay what they were, though the PersistentVolume that names them is mended.
 */
export async function undoingNew<T>(env: Env, id: string, work: () => Promise<T>): Promise<T> {
  const known = env.volumes.find(id) !== undefined;
  try {
    return await work();
  } catch (error) {
    if (!known && isRefusal(error))
      await forgetUnused(env, id).catch((second) =>
        env.log.error(
          { volume_id: id, error: String(second) },
          'could not undo a volume that was never used',
        ),
      );
    throw error;
  }
}

/** What the request is to blame for. A disk that failed keeps what is wrong with it, however often it is tried. */
function isRefusal(error: unknown): boolean {
  if (error instanceof CsiError) return REFUSALS.has(error.code);
  return error instanceof HostError && error.option !== undefined;
}

const REFUSALS: ReadonlySet<number> = new Set([
  Code.INVALID_ARGUMENT,
  Code.NOT_FOUND,
  Code.ALREADY_EXISTS,
  Code.FAILED_PRECONDITION,
  Code.OUT_OF_RANGE,
]);

async function forgetUnused(env: Env, id: string): Promise<void> {
  const volume = env.volumes.find(id);
  if (volume?.origin !== 'static' || !env.volumes.mayWrite(volume)) return;
  const { store } = env.node ?? {};
  const inUse = store?.stage(id) ?? store?.heldLoop(id) ?? Object.keys(volume.attachments)[0];
  if (inUse !== undefined || stagedElsewhere(env, id).length > 0) return;
  await backendOf(env, volume).destroy(volume);
  await env.volumes.remove(id);
}

/** Our keys must be as the volume has them; absent ones are fine, and so are keys that a CO adds. */
export function checkContext(volume: VolumeRecord, context: Record<string, string>): void {
  for (const [key, value] of Object.entries(volume.context))
    if (Object.hasOwn(context, key) && context[key] !== value)
      throw invalidArgument(
        `volume_context[${JSON.stringify(key)}]: volume ${volume.id} has ${JSON.stringify(value)}, found ${JSON.stringify(context[key])}`,
      );
}

/** Makes a volume from what a PersistentVolume or a pod says of it, without a CreateVolume. */
export function makeVolume(
  env: Env,
  id: string,
  origin: Exclude<VolumeOrigin, 'created'>,
  context: Record<string, string>,
): Promise<VolumeRecord> {
  const pending = env.making.get(id);
  if (pending) return pending;
  const made = make(env, id, origin, context).finally(() => env.making.delete(id));
  env.making.set(id, made);
  return made;
}

async function make(
  env: Env,
  id: string,
  origin: Exclude<VolumeOrigin, 'created'>,
  context: Record<string, string>,
): Promise<VolumeRecord> {
  const attributes = readAttributes(context);
  const backend = pickBackend(env, attributes.backend as BackendName | undefined);
  const capacity =
    attributes.size === undefined ? env.settings.defaultSizeBytes : parseQuantity(attributes.size);
  if (capacity === undefined)
    throw invalidArgument(`volume_context["size"]: expected a size, found ${attributes.size}`);
  if (capacity > env.settings.maxVolumeBytes)
    throw invalidArgument(
      `volume_context["size"]: at most ${env.settings.maxVolumeBytes} bytes, found ${capacity}`,
    );
  const smallest = backend.accessTypes
    .map((type) => backend.limits('', type).minimum)
    .reduce((least, minimum) => (minimum < least ? minimum : least));
  if (capacity < smallest)
    throw invalidArgument(`volume_context["size"]: at least ${smallest} bytes, found ${capacity}`);
  const release = env.pool.reserve(capacity);
  const record: VolumeRecord = {
    version: RECORD_VERSION,
    id,
    name: id,
    sequence: env.volumes.takeSequence(),
    origin,
    createdAt: new Date(env.clock.now()).toISOString(),
    capacityBytes: `${capacity}`,
    backend: backend.name,
    fsType: '',
    accessTypes: [...backend.accessTypes],
    parameters: {},
    requestedMutable: {},
    mutable: {},
    context: attributes,
    attributes: withoutKubernetes(context),
    topology: [],
    ...(origin === 'ephemeral' && env.node && { node: env.node.record.id }),
    claim: {},
    attachments: {},
  };
  let folder: string | undefined;
  try {
    folder = await env.volumes.begin(id);
    await backend.create(volumePaths(folder), capacity, undefined, new AbortController().signal);
    await env.volumes.commit(record, folder);
  } catch (error) {
    if (folder !== undefined) await env.volumes.abandon(folder).catch(() => undefined);
    // A node and the controller may both need it first: whoever was faster made it.
    const made = ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '') ? env.volumes.find(id) : undefined;
    if (!made) throw error;
    return made;
  } finally {
    release();
  }
  return record;
}

export function pickBackend(env: Env, name: BackendName | undefined) {
  const backend = env.backends.get(name ?? env.settings.defaultBackend);
  if (!backend)
    throw failedPrecondition(
      `backend ${name} is not available in this process; it has ${[...env.backends.keys()].join(', ')}`,
    );
  return backend;
}
