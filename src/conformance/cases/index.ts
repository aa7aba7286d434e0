import type { Case } from '../case';
import { anyConcurrency } from './any-concurrency';
import { anyErrors } from './any-errors';
import { anyFields } from './any-fields';
import { anyProcess } from './any-process';
import { anySecrets } from './any-secrets';
import { anyWire } from './any-wire';
import { controllerExpand } from './controller-expand';
import { controllerGetCapabilities } from './controller-get-capabilities';
import { controllerPublish } from './controller-publish';
import { controllerUnpublish } from './controller-unpublish';
import { createGroupSnapshot } from './create-group-snapshot';
import { createSnapshot } from './create-snapshot';
import { createVolume } from './create-volume';
import { deleteGroupSnapshot } from './delete-group-snapshot';
import { deleteSnapshot } from './delete-snapshot';
import { deleteVolume } from './delete-volume';
import { getCapacity } from './get-capacity';
import { getGroupSnapshot } from './get-group-snapshot';
import { getMetadataAllocated } from './get-metadata-allocated';
import { getMetadataDelta } from './get-metadata-delta';
import { getPluginCapabilities } from './get-plugin-capabilities';
import { getPluginInfo } from './get-plugin-info';
import { getSnapshot } from './get-snapshot';
import { getVolume } from './get-volume';
import { groupGetCapabilities } from './group-get-capabilities';
import { listSnapshots } from './list-snapshots';
import { listVolumes } from './list-volumes';
import { modifyVolume } from './modify-volume';
import { nodeExpand } from './node-expand';
import { nodeInfo } from './node-info';
import { nodePublish } from './node-publish';
import { nodeStage } from './node-stage';
import { nodeStats } from './node-stats';
import { nodeUnpublish } from './node-unpublish';
import { nodeUnstage } from './node-unstage';
import { probeCases } from './probe';
import { snapshotMetadataService } from './snapshot-metadata';
import { validateCapabilities } from './validate-capabilities';

/** In the order in which they run and are printed. */
export const allCases: readonly Case[] = [
  ...anyErrors,
  ...anyFields,
  ...anySecrets,
  ...anyConcurrency,
  ...anyWire,
  ...anyProcess,
  ...getPluginInfo,
  ...getPluginCapabilities,
  ...probeCases,
  ...createVolume,
  ...deleteVolume,
  ...controllerPublish,
  ...controllerUnpublish,
  ...validateCapabilities,
  ...listVolumes,
  ...getVolume,
  ...modifyVolume,
  ...getCapacity,
  ...controllerGetCapabilities,
  ...createSnapshot,
  ...deleteSnapshot,
  ...listSnapshots,
  ...getSnapshot,
  ...controllerExpand,
  ...nodeStage,
  ...nodeUnstage,
  ...nodePublish,
  ...nodeUnpublish,
  ...nodeStats,
  ...nodeInfo,
  ...nodeExpand,
  ...createGroupSnapshot,
  ...deleteGroupSnapshot,
  ...getGroupSnapshot,
  ...groupGetCapabilities,
  ...getMetadataAllocated,
  ...getMetadataDelta,
  ...snapshotMetadataService,
];
