import * as path from 'node:path';
import type { Backend, BackendName } from '../backends/backend';
import { DiskBackend } from '../backends/disk-backend';
import { DISK_GRANULE } from '../backends/disk-size';
import { DirectoryBackend, TmpfsBackend } from '../backends/tree-backends';
import type { Host } from '../host/host';
import { largestFile as largestFileIn } from '../host/largest-file';
import { advertised } from '../services/capabilities';
import type { Env } from '../services/env';
import { keyOf } from '../util/keys';
import { once } from '../util/once';
import { AttachmentIndex } from '../volumes/attachment-index';
import { Freezer } from '../volumes/freezer';
import type { Layout } from '../volumes/layout';
import { NodeRegistry } from '../volumes/node-registry';
import { NodeStore } from '../volumes/node-store';
import { Pool } from '../volumes/pool';
import { RecordStore } from '../volumes/record-store';
import {
  type GroupRecord,
  type NodeRecord,
  RECORD_VERSION,
  type SnapshotRecord,
  type VolumeRecord,
} from '../volumes/records';
import type { DriverOptions } from './driver-options';

/** Everything a service works with, from the options and what lies in the data folder. Nothing is read yet. */
export async function makeEnv(options: DriverOptions, layout: Layout): Promise<Env> {
  const { clock, log, host, profile, capabilities, durability } = options;
  const isNode = profile !== 'controller';
  const isController = profile !== 'node';
  const bootId = await host.bootId();
  const node: NodeRecord | undefined = isNode
    ? {
        version: RECORD_VERSION,
        id: options.nodeId,
        topology: options.topology,
        maxVolumes: options.maxVolumesPerNode,
        bootId,
      }
    : undefined;
  const store = node && new NodeStore({ paths: layout.node(node.id), bootId, log });
  const pool = new Pool(options.capacityBytes);
  const attachments = new AttachmentIndex();
  const owner = isController ? 'controller' : keyOf(options.nodeId).slice(0, 12);
  const common = { durability, log, owner };
  // A node alone makes and keeps static volumes; beside a controller, that is who grows and lists them.
  const keepsStatic = isController || options.advertise === 'node';
  return {
    settings: {
      driverName: options.driverName,
      vendorVersion: options.version,
      capabilities,
      advertised: advertised(capabilities, options.advertise),
      defaultBackend: options.backend,
      defaultFsType: options.fsType,
      defaultSizeBytes: options.defaultSizeBytes,
      maxVolumeBytes: options.maxVolumeBytes,
      strict: options.strict,
    },
    host,
    clock,
    log,
    layout,
    bootId,
    volumes: new RecordStore<VolumeRecord>({
      ...common,
      root: layout.volumes,
      file: 'volume.json',
      required: ['id', 'name', 'sequence', 'origin', 'capacityBytes', 'backend', 'attachments'],
      owns: ({ origin, node: home }) =>
        origin === 'created' ? isController : origin === 'static' ? keepsStatic : home === node?.id,
      onChange: (before, after) => {
        pool.adjust(before?.capacityBytes, after?.capacityBytes);
        attachments.adjust(before, after);
      },
    }),
    snapshots: new RecordStore<SnapshotRecord>({
      ...common,
      root: layout.snapshots,
      file: 'snapshot.json',
      required: ['id', 'name', 'sequence', 'sourceVolumeId', 'sizeBytes', 'backend'],
      owns: () => isController,
      onChange: (before, after) => pool.adjust(before?.sizeBytes, after?.sizeBytes),
    }),
    groups: new RecordStore<GroupRecord>({
      ...common,
      root: layout.groups,
      file: 'group.json',
      required: ['id', 'name', 'snapshotIds', 'sourceVolumeIds'],
      owns: () => isController,
    }),
    nodes: new NodeRegistry(layout, node, options.extraTopologies),
    pool,
    attachments,
    freezer: new Freezer(host, store?.paths.undo ?? layout.undo, log),
    making: new Map(),
    backends: makeBackends(options, store, await host.abilities()),
    node: node && store ? { record: node, store } : undefined,
  };
}

function makeBackends(
  options: DriverOptions,
  store: NodeStore | undefined,
  abilities: Awaited<ReturnType<Host['abilities']>>,
): ReadonlyMap<BackendName, Backend> {
  const { host, clock, fsType } = options;
  const growMountedExt4 = abilities.growMountedExt4 === true;
  const mountPointOf = (volumeId: string) => store && path.join(store.paths.mounts, keyOf(volumeId));
  const disks = { host, clock, defaultFsType: fsType, growMountedExt4 };
  const largestFile = once(() => largestFileIn(options.dataDir, DISK_GRANULE));
  // One machine a process: the model and the kernel are not mixed, since a path can only be looked up in one of them.
  const backends: Backend[] =
    host.kind === 'memory'
      ? [new DiskBackend({ name: 'memory', ...disks })]
      : [
          new DiskBackend({ name: 'loop', ...disks, largestFile }),
          new TmpfsBackend(host, mountPointOf),
          new DirectoryBackend(host),
        ];
  return new Map(backends.map((backend) => [backend.name, backend]));
}
