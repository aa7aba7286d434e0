import type { Method } from '../../../src/csi/rpcs';
import { idFor } from '../../../src/util/keys';
import { KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
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

/** One call of a CO that is cut off by a kill, and how the CO may go on after that. */
export interface Scenario {
  title: string;
  method: Method;
  points: readonly string[];
  kinds: readonly Kind[];
  /** ext4 grows offline, as where the process lacks CAP_SYS_RESOURCE. */
  refuseGrowth?: boolean;
  /** Everything before the call. */
  prepare(driver: DriverLike, subject: Subject): Promise<void>;
  call(driver: DriverLike, subject: Subject): Promise<unknown>;
  /** The CO changes its mind. */
  undo(driver: DriverLike, subject: Subject): Promise<unknown>;
  /** The volume is used to the full after the same call was repeated; checks the mark. */
  go(driver: DriverLike, subject: Subject): Promise<void>;
}

export const volumeIdOf = (name: string) => idFor('vol', name);
export const snapshotIdOf = (name: string) => idFor('snap', name);

const options = (subject: Subject) => ({ ...subject.kind.options(), name: subject.name });

const create = async (driver: DriverLike, subject: Subject) => {
  subject.used.id = await createVolume(driver, options(subject));
};
const remove = (driver: DriverLike, { used }: Subject) => driver.csi.DeleteVolume({ volume_id: used.id });
const attach = async (driver: DriverLike, { used }: Subject) => {
  const { node_id } = await driver.csi.NodeGetInfo();
  const { publish_context } = await driver.csi.ControllerPublishVolume({
    volume_id: used.id,
    node_id,
    volume_capability: used.capability,
  });
  used.publishContext = publish_context;
};
const detach = (driver: DriverLike, { used }: Subject) =>
  driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
const stageIt = (driver: DriverLike, { used }: Subject) =>
  driver.csi.NodeStageVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    volume_capability: used.capability,
  });
const unstageIt = (driver: DriverLike, { used }: Subject) =>
  driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
const publishIt = (driver: DriverLike, { used }: Subject) => publish(driver, used);
const unpublishIt = (driver: DriverLike, { used }: Subject) =>
  driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });

async function all(
  driver: DriverLike,
  subject: Subject,
  ...steps: ((d: DriverLike, s: Subject) => Promise<unknown>)[]
) {
  for (const step of steps) await step(driver, subject);
}

/** Attach, stage and publish whatever of it is not done yet, and look whether the data is there. */
async function useFully(driver: DriverLike, subject: Subject): Promise<void> {
  await all(driver, subject, attach, stageIt, publishIt);
  const found = await readMark(subject.kind, subject.used);
  expect(found).toBe(subject.mark);
  await writeMark(subject.kind, subject.used, 'written after the kill');
}

/** A volume that was used before and holds something. */
async function used(driver: DriverLike, subject: Subject): Promise<void> {
  await all(driver, subject, create, attach, stageIt, publishIt);
  subject.mark = `mark of ${subject.name}`;
  await writeMark(subject.kind, subject.used, subject.mark);
}

async function unused(driver: DriverLike, subject: Subject): Promise<void> {
  await used(driver, subject);
  await all(driver, subject, unpublishIt, unstageIt);
}

const snapshotIt = (driver: DriverLike, { used: volume, name }: Subject) =>
  driver.csi.CreateSnapshot({ source_volume_id: volume.id, name });
const dropSnapshot = (driver: DriverLike, { snapshotId }: Subject) =>
  driver.csi.DeleteSnapshot({ snapshot_id: snapshotId });
const groupIt = (driver: DriverLike, { used: volume, name }: Subject) =>
  driver.csi.CreateVolumeGroupSnapshot({ name, source_volume_ids: [volume.id] });
const dropGroup = (driver: DriverLike, { groupId, used: volume, name }: Subject) =>
  driver.csi.DeleteVolumeGroupSnapshot({
    group_snapshot_id: groupId,
    snapshot_ids: [idFor('snap', name, volume.id)],
  });

/** The source goes on, and a copy of the snapshot holds what the source held. */
async function restore(driver: DriverLike, subject: Subject, snapshotId: string): Promise<void> {
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

const grow = (driver: DriverLike, { kind, used: volume }: Subject) =>
  driver.csi.ControllerExpandVolume({
    volume_id: volume.id,
    capacity_range: { required_bytes: `${kind.size + (32 << 20)}` },
  });
const nodeGrow = (driver: DriverLike, { used: volume }: Subject) =>
  driver.csi.NodeExpandVolume({ volume_id: volume.id, volume_path: volume.staging });

const { ext4, xfs, block, tmpfs } = KINDS;
const every = [ext4, xfs, block, tmpfs];
const nothing = async () => undefined;

export const SCENARIOS: readonly Scenario[] = [
  {
    title: 'CreateVolume',
    method: 'CreateVolume',
    points: ['beforeCreate', 'bytesMade', 'after'],
    kinds: every,
    prepare: nothing,
    call: create,
    undo: async (driver, subject) => driver.csi.DeleteVolume({ volume_id: volumeIdOf(subject.name) }),
    go: useFully,
  },
  {
    title: 'DeleteVolume',
    method: 'DeleteVolume',
    points: ['beforeDelete', 'destroyed', 'after'],
    kinds: every,
    prepare: (driver, subject) => all(driver, subject, create, attach, stageIt, unstageIt, detach),
    call: remove,
    undo: create,
    go: nothing,
  },
  {
    title: 'ControllerPublishVolume',
    method: 'ControllerPublishVolume',
    points: ['beforeAttach', 'after'],
    kinds: every,
    prepare: create,
    call: attach,
    undo: detach,
    go: useFully,
  },
  {
    title: 'ControllerUnpublishVolume',
    method: 'ControllerUnpublishVolume',
    points: ['beforeDetach', 'after'],
    kinds: every,
    prepare: unused,
    call: detach,
    undo: attach,
    go: useFully,
  },
  {
    title: 'ControllerExpandVolume',
    method: 'ControllerExpandVolume',
    points: ['bytesGrown', 'after'],
    kinds: every,
    prepare: unused,
    call: grow,
    undo: nothing,
    go: useFully,
  },
  {
    title: 'the first NodeStageVolume',
    method: 'NodeStageVolume',
    points: ['beforeFormat', 'formatted'],
    kinds: [ext4, xfs],
    prepare: (driver, subject) => all(driver, subject, create, attach),
    call: stageIt,
    undo: unstageIt,
    go: useFully,
  },
  {
    title: 'NodeStageVolume',
    method: 'NodeStageVolume',
    points: ['beforeAttach', 'attached'],
    kinds: [ext4, xfs, block],
    prepare: unused,
    call: stageIt,
    undo: unstageIt,
    go: useFully,
  },
  {
    title: 'NodeStageVolume',
    method: 'NodeStageVolume',
    points: ['noted', 'staged', 'after'],
    kinds: every,
    prepare: unused,
    call: stageIt,
    undo: unstageIt,
    go: useFully,
  },
  {
    title: 'NodeStageVolume',
    method: 'NodeStageVolume',
    points: ['mounted'],
    kinds: [ext4, xfs, tmpfs],
    prepare: unused,
    call: stageIt,
    undo: unstageIt,
    go: useFully,
  },
  {
    title: 'NodePublishVolume',
    method: 'NodePublishVolume',
    points: ['beforeMount', 'mounted', 'after'],
    kinds: every,
    prepare: async (driver, subject) => {
      await unused(driver, subject);
      await stageIt(driver, subject);
    },
    call: publishIt,
    undo: unpublishIt,
    go: useFully,
  },
  {
    title: 'NodeUnpublishVolume',
    method: 'NodeUnpublishVolume',
    points: ['beforeUnmount', 'unmounted', 'targetRemoved', 'after'],
    kinds: every,
    prepare: used,
    call: unpublishIt,
    undo: publishIt,
    go: useFully,
  },
  {
    title: 'NodeUnstageVolume',
    method: 'NodeUnstageVolume',
    points: ['beforeUnmount', 'unmounted', 'released', 'after'],
    kinds: every,
    prepare: async (driver, subject) => {
      await used(driver, subject);
      await unpublishIt(driver, subject);
    },
    call: unstageIt,
    undo: stageIt,
    go: useFully,
  },
  {
    title: 'NodeExpandVolume',
    method: 'NodeExpandVolume',
    points: ['deviceGrown'],
    kinds: [ext4, xfs, block],
    prepare: async (driver, subject) => {
      await unused(driver, subject);
      await all(driver, subject, stageIt, grow);
    },
    call: nodeGrow,
    undo: unstageIt,
    go: useFully,
  },
  {
    title: 'NodeExpandVolume of an ext4 that has to be unmounted for it',
    method: 'NodeExpandVolume',
    points: ['unmounted', 'grown'],
    kinds: [ext4],
    refuseGrowth: true,
    prepare: async (driver, subject) => {
      await unused(driver, subject);
      await all(driver, subject, stageIt, grow);
    },
    call: nodeGrow,
    undo: unstageIt,
    // The kubelet does not stage again what it believes staged.
    go: async (driver, subject) => {
      await publishIt(driver, subject);
      expect(await readMark(subject.kind, subject.used)).toBe(subject.mark);
    },
  },
  {
    title: 'CreateSnapshot',
    method: 'CreateSnapshot',
    points: ['beforeCut', 'copied', 'cut', 'committed', 'after'],
    kinds: every,
    prepare: used,
    call: snapshotIt,
    undo: dropSnapshot,
    go: (driver, subject) => restore(driver, subject, subject.snapshotId),
  },
  {
    title: 'DeleteSnapshot',
    method: 'DeleteSnapshot',
    points: ['beforeDelete', 'after'],
    kinds: every,
    prepare: async (driver, subject) => {
      await used(driver, subject);
      await snapshotIt(driver, subject);
    },
    call: dropSnapshot,
    undo: snapshotIt,
    go: useFully,
  },
  {
    title: 'CreateVolumeGroupSnapshot',
    method: 'CreateVolumeGroupSnapshot',
    points: ['copied', 'committed', 'membersCut', 'after'],
    kinds: every,
    prepare: used,
    call: groupIt,
    undo: dropGroup,
    go: (driver, subject) => restore(driver, subject, idFor('snap', subject.name, subject.used.id)),
  },
  {
    title: 'DeleteVolumeGroupSnapshot',
    method: 'DeleteVolumeGroupSnapshot',
    points: ['beforeDelete', 'groupRemoved', 'after'],
    kinds: every,
    prepare: async (driver, subject) => {
      await used(driver, subject);
      await groupIt(driver, subject);
    },
    call: dropGroup,
    undo: groupIt,
    go: useFully,
  },
];

/** Back to nothing, from wherever it is: every call of a teardown is fine for what is not there. */
export async function finish(driver: DriverLike, subject: Subject): Promise<void> {
  subject.used.id ||= volumeIdOf(subject.name);
  await all(driver, subject, unpublishIt, unstageIt, detach, remove, dropSnapshot, dropGroup);
}
