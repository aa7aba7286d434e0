import { alreadyExists, type CsiError, failedPrecondition } from '../../csi/status';
import type { PublicationRecord } from '../../volumes/records';
import type { Call, Env } from '../env';
import { isMultiTarget, sameCapability } from '../volume-capability';
import { ownNode } from './own-node';

/** The table of a second NodePublishVolume on one node (CSI 1.12), as far as other calls are known by their records. */
export async function checkAgainstOthers(env: Env, record: PublicationRecord, call: Call): Promise<void> {
  const { store } = ownNode(env);
  const here = store.publication(record.targetPath);
  const others = store.publicationsOf(record.volumeId).filter((other) => other !== here);
  for (const other of here ? [here, ...others] : others) {
    const clash = clashOf(other, record);
    if (!clash) continue;
    const there = await env.host.mounts.look(other.targetPath).catch(() => undefined);
    if (there?.mount !== null) throw clash;
    // Somebody else unmounted it, or it was unpublished by another name: what is not there is in nobody's way.
    store.removePublication(other.targetPath);
    call.effect(`forgot the publication at ${other.targetPath}: nothing is mounted there`);
  }
}

function clashOf(other: PublicationRecord, record: PublicationRecord): CsiError | undefined {
  const { volumeId, targetPath } = other;
  if (targetPath === record.targetPath)
    return samePublication(other, record)
      ? undefined
      : alreadyExists(
          `volume ${volumeId} is published at ${targetPath} with other arguments; unpublish it first`,
        );
  if (!isMultiTarget(record.capability.accessMode) || !isMultiTarget(other.capability.accessMode))
    return failedPrecondition(
      `volume ${volumeId} is published at ${targetPath} and its access mode allows one target on a node; unpublish it there first`,
    );
  if (!sameCapability(other.capability, record.capability))
    return failedPrecondition(
      `volume ${volumeId} is published at ${targetPath} with another volume_capability; all targets on a node share one`,
    );
  return undefined;
}

function samePublication(a: PublicationRecord, b: PublicationRecord): boolean {
  return (
    a.volumeId === b.volumeId &&
    a.requestedReadOnly === b.requestedReadOnly &&
    a.stagingPath === b.stagingPath &&
    a.volumeContextDigest === b.volumeContextDigest &&
    a.publishContextDigest === b.publishContextDigest &&
    sameCapability(a.capability, b.capability)
  );
}
