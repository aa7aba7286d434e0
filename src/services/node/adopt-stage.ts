import type { Staged } from '../../backends/backend';
import { LOOP_MAJOR } from '../../backends/disk-loops';
import { alreadyExists } from '../../csi/status';
import { sameDevice } from '../../util/device';
import {
  type CapabilityRecord,
  RECORD_VERSION,
  type StageRecord,
  type VolumeRecord,
} from '../../volumes/records';
import { backendOf, type Call, type Env } from '../env';
import { ownNode } from './own-node';

export interface StageOptions {
  stagingPath: string;
  implicit: boolean;
  capability: CapabilityRecord;
  mountFlags: readonly string[];
  publishContext: Record<string, string>;
}

/** What a stage that was asked for is recorded as. */
export function stageRecord(
  env: Env,
  volume: VolumeRecord,
  options: StageOptions,
  readOnly: boolean,
): StageRecord {
  const { store } = ownNode(env);
  const { capability } = options;
  return {
    version: RECORD_VERSION,
    volumeId: volume.id,
    bootId: store.bootId,
    stagingPath: options.stagingPath,
    implicit: options.implicit,
    readOnly,
    capability,
    backend: volume.backend,
    fsType:
      capability.accessType === 'block'
        ? ''
        : capability.fsType || volume.fsType || backendOf(env, volume).chooseFsType(''),
  };
}

/**
 * The volume is at its staging path but the record of it is lost: the kernel is right, the record is written anew.
 * @returns undefined when what is there is something else.
 */
export async function adoptStage(
  env: Env,
  volume: VolumeRecord,
  record: StageRecord,
  call: Call,
): Promise<Staged | undefined> {
  const held = ownNode(env).store.heldLoop(volume.id);
  const facts = held === undefined ? record : { ...record, loopIndex: held };
  const staged = await backendOf(env, volume).inspect(facts, env.layout.volume(volume.id));
  if (!staged) return undefined;
  const readOnly = staged.identity
    ? (await env.host.mounts.at(record.stagingPath))?.readOnly === true
    : record.readOnly;
  if (readOnly !== record.readOnly)
    throw alreadyExists(
      `volume ${record.volumeId} is mounted at ${record.stagingPath} ${readOnly ? 'read-only' : 'writable'}; unstage it first`,
    );
  await keepStage(env, record, staged);
  call.effect(`adopted the mount at ${record.stagingPath}`);
  return staged;
}

/** Keeps what was found out about a stage once it was there. */
export async function keepStage(env: Env, record: StageRecord, staged: Staged): Promise<StageRecord> {
  const { store } = ownNode(env);
  const result: StageRecord = { ...record, fsType: staged.fsType };
  if (staged.loopIndex !== undefined) result.loopIndex = staged.loopIndex;
  const device = staged.identity?.device;
  const loop = { major: LOOP_MAJOR, minor: staged.loopIndex ?? -1 };
  if (device && staged.loopIndex !== undefined && !sameDevice(device, loop)) result.mountDevice = device;
  const untold =
    result.mountDevice !== undefined ||
    result.loopIndex !== record.loopIndex ||
    result.fsType !== record.fsType ||
    store.stage(record.volumeId) === undefined;
  if (untold) await store.putStage(result);
  store.rememberStage(result, staged);
  return result;
}
