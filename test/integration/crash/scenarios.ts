import type { Method } from '../../../src/csi/rpcs';
import { idFor } from '../../../src/util/keys';
import { KINDS, type Kind, readMark } from '../../support/kinds';
import type { DriverLike } from '../../support/lifecycle';
import {
  all,
  attach,
  create,
  detach,
  dropGroup,
  dropSnapshot,
  groupIt,
  grow,
  nodeGrow,
  publishIt,
  remove,
  restore,
  type Subject,
  snapshotIt,
  stageIt,
  unpublishIt,
  unstageIt,
  unused,
  used,
  useFully,
  volumeIdOf,
} from './moves';

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

/** How the CO goes on with a volume after the driver's process was killed and started again. */
export const WAYS = ['repeats the call', 'undoes it', 'deletes the volume'] as const;
export type Way = (typeof WAYS)[number];

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
