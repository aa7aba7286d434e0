import { idFor } from '../../../src/util/keys';
import { type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, type DriverLike, publish, type UsedVolume } from '../../support/lifecycle';

/** One volume on its way through a scenario: where it is, and what it is called. */
export interface Subject {
  kind: Kind;
  used: UsedVolume;
  /** Names what the scenario makes beside the volume. */
  name: string;
  snapshotId: string;
  groupId: string;
  /** What was written to it before, and must be in it after. */
  mark: string | undefined;
}

export const volumeIdOf = (name: string) => idFor('vol', name);
export const snapshotIdOf = (name: string) => idFor('snap', name);

const options = (subject: Subject) => ({ ...subject.kind.options(), name: subject.name });

export const create = async (driver: DriverLike, subject: Subject) => {
  subject.used.id = await createVolume(driver, options(subject));
};
export const remove = (driver: DriverLike, { used }: Subject) =>
  driver.csi.DeleteVolume({ volume_id: used.id });
export const attach = async (driver: DriverLike, { used }: Subject) => {
  const { node_id } = await driver.csi.NodeGetInfo();
  const { publish_context } = await driver.csi.ControllerPublishVolume({
    volume_id: used.id,
    node_id,
    volume_capability: used.capability,
  });
  used.publishContext = publish_context;
};
export const detach = (driver: DriverLike, { used }: Subject) =>
  driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
export const stageIt = (driver: DriverLike, { used }: Subject) =>
  driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });
export const unstageIt = (driver: DriverLike, { used }: Subject) =>
  driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
export const publishIt = (driver: DriverLike, { used }: Subject) => publish(driver, used);
export const unpublishIt = (driver: DriverLike, { used }: Subject) =>
  driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });

export async function all(
  driver: DriverLike,
  subject: Subject,
  ...steps: ((d: DriverLike, s: Subject) => Promise<unknown>)[]
) {
  for (const step of steps) await step(driver, subject);
}

/** Attach, stage and publish whatever of it is not done yet, and look whether the data is there. */
export async function useFully(driver: DriverLike, subject: Subject): Promise<void> {
  await all(driver, subject, attach, stageIt, publishIt);
  const found = await readMark(subject.kind, subject.used);
  expect(found).toBe(subject.mark);
  await writeMark(subject.kind, subject.used, 'written after the kill');
}

/** A volume that was used before and holds something. */
export async function used(driver: DriverLike, subject: Subject): Promise<void> {
  await all(driver, subject, create, attach, stageIt, publishIt);
  subject.mark = `mark of ${subject.name}`;
  await writeMark(subject.kind, subject.used, subject.mark);
}

export async function unused(driver: DriverLike, subject: Subject): Promise<void> {
  await used(driver, subject);
  await all(driver, subject, unpublishIt, unstageIt);
}

export const snapshotIt = (driver: DriverLike, { used: volume, name }: Subject) =>
  driver.csi.CreateSnapshot({ source_volume_id: volume.id, name });
export const dropSnapshot = (driver: DriverLike, { snapshotId }: Subject) =>
  driver.csi.DeleteSnapshot({ snapshot_id: snapshotId });
export const groupIt = (driver: DriverLike, { used: volume, name }: Subject) =>
  driver.csi.CreateVolumeGroupSnapshot({ name, source_volume_ids: [volume.id] });
export const dropGroup = (driver: DriverLike, { groupId, used: volume, name }: Subject) =>
  driver.csi.DeleteVolumeGroupSnapshot({
    group_snapshot_id: groupId,
    snapshot_ids: [idFor('snap', name, volume.id)],
  });

/** The source goes on, and a copy of the snapshot holds what the source held. */
export async function restore(driver: DriverLike, subject: Subject, snapshotId: string): Promise<void> {
  await useFully(driver, subject);
  const { kind, name } = subject;
  const copy: Subject = {
    ...subject,
    name: `${name}-copy`,
    used: {
      ...subject.used,
      id: await createVolume(driver, {
        ...kind.options(),
        name: `${name}-copy`,
        source: { snapshot: { snapshot_id: snapshotId } },
      }),
      staging: await driver.folder(`${name}-copy-staging`),
      target: await driver.target(`${name}-copy`),
    },
  };
  await all(driver, copy, attach, stageIt, publishIt);
  expect(await readMark(kind, copy.used)).toBe(subject.mark);
  await all(driver, copy, unpublishIt, unstageIt, detach, remove);
}

export const grow = (driver: DriverLike, { kind, used: volume }: Subject) =>
  driver.csi.ControllerExpandVolume({
    volume_id: volume.id,
    capacity_range: { required_bytes: `${kind.size + (32 << 20)}` },
  });
export const nodeGrow = (driver: DriverLike, { used: volume }: Subject) =>
  driver.csi.NodeExpandVolume({ volume_id: volume.id, volume_path: volume.staging });

/** Back to nothing, from wherever it is: every call of a teardown is fine for what is not there. */
export async function finish(driver: DriverLike, subject: Subject): Promise<void> {
  subject.used.id ||= volumeIdOf(subject.name);
  await all(driver, subject, unpublishIt, unstageIt, detach, remove, dropSnapshot, dropGroup);
}
