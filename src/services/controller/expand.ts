import type { CapacityRange__Output } from '../../csi/gen/csi/v1/CapacityRange';
import { failedPrecondition, invalidArgument, outOfRange } from '../../csi/status';
import type { VolumeRecord } from '../../volumes/records';
import { backendOf, type Call, type Env, type Handler } from '../env';
import { findVolume } from '../resolve';
import { stagedElsewhere } from '../staged-elsewhere';
import { recordOf, unservable } from '../volume-capability';

export const controllerExpandVolume: Handler<'ControllerExpandVolume'> = async (env, request, call) => {
  const volume = await findVolume(env, request.volume_id);
  if (!request.capacity_range) throw invalidArgument('capacity_range: expected a size, found nothing');
  if (request.volume_capability) {
    const problem = unservable(env, volume, recordOf(request.volume_capability));
    if (problem) throw invalidArgument(`volume_capability: ${problem}`);
  }
  const size = sizeAfter(env, volume, request.capacity_range);
  const backend = backendOf(env, volume);
  const reply = (grown: VolumeRecord) => ({
    capacity_bytes: grown.capacityBytes,
    node_expansion_required: env.settings.capabilities.node.has('EXPAND_VOLUME') && backend.nodeGrows,
  });
  if (size === BigInt(volume.capacityBytes)) return reply(volume);
  await checkOffline(env, volume);
  return reply(await growVolume(env, volume, size, call));
};

/** @throws CsiError OUT_OF_RANGE @returns the size the volume is to have, never less than it has. */
export function sizeAfter(env: Env, volume: VolumeRecord, range: CapacityRange__Output): bigint {
  const current = BigInt(volume.capacityBytes);
  const required = BigInt(range.required_bytes);
  const limit = BigInt(range.limit_bytes);
  const size = required > current ? required : current;
  if (limit > 0n && size > limit)
    throw outOfRange(
      `capacity_range: volume ${volume.id} has ${current} bytes and never shrinks; limit_bytes is ${limit}`,
    );
  if (size > env.settings.maxVolumeBytes)
    throw outOfRange(`capacity_range: at most ${env.settings.maxVolumeBytes} bytes, found ${size}`);
  return size;
}

/** Grows the bytes, then the record: a kill in between leaves a larger file, which is harmless, never a smaller one. */
export async function growVolume(
  env: Env,
  volume: VolumeRecord,
  size: bigint,
  call: Call,
): Promise<VolumeRecord> {
  const release = env.pool.reserve(size - BigInt(volume.capacityBytes));
  const grown = { ...volume, capacityBytes: `${size}` };
  try {
    await backendOf(env, volume).grow(env.layout.volume(volume.id), volume, size);
    await call.point('bytesGrown');
    await env.volumes.update(grown);
  } finally {
    release();
  }
  call.effect(`grew the volume to ${size} bytes`);
  return grown;
}

async function checkOffline(env: Env, volume: VolumeRecord): Promise<void> {
  if (env.settings.capabilities.plugin.has('ONLINE')) return;
  const nodes = Object.keys(volume.attachments);
  const staged = env.node?.store.stage(volume.id) !== undefined || stagedElsewhere(env, volume.id).length > 0;
  if (nodes.length === 0 && !staged) return;
  throw failedPrecondition(
    `volume ${volume.id} is published${nodes.length > 0 ? ` to ${nodes.join(', ')}` : ''} and this plugin expands offline only; unpublish it first`,
  );
}
