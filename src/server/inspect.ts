import { readdirSync } from 'node:fs';
import * as path from 'node:path';
import { loopIndexOf } from '../backends/disk-loops';
import { withoutUnlinkedMark } from '../host/backing-file';
import type { VolumeState } from '../scenarios/model';
import type { Env } from '../services/env';
import { keyOf } from '../util/keys';
import { DISK_NAME } from '../volumes/layout';
import { readRecord } from '../volumes/record-file';
import type { NodeRecord, PublicationRecord, StageRecord, VolumeRecord } from '../volumes/records';

/** A volume for people and programs, put together from the records of every process. Sizes are decimal bytes. */
export interface VolumeView {
  id: string;
  name: string;
  /** The most that holds of it. */
  state: VolumeState;
  origin: VolumeRecord['origin'];
  backend: string;
  fsType: string;
  accessTypes: string[];
  capacityBytes: string;
  pvc?: { namespace?: string; name?: string };
  storageClass?: string;
  scenario?: string;
  parameters: Record<string, string>;
  attributes: Record<string, string>;
  attachedTo: string[];
  stages: { node: string; path: string }[];
  targets: { node: string; path: string; readOnly: boolean; pod?: Record<string, string> }[];
}

export interface Leaks {
  /** Loop devices over disks of ours that no stage uses. */
  loops: string[];
  /** Mounts of our volumes that no record tells of. */
  mounts: string[];
  /** Filesystems that a freeze was left on. */
  frozen: string[];
}

interface NodeRecords {
  node: string;
  stages: StageRecord[];
  publications: PublicationRecord[];
}

/**
 * Every volume, in the order of creation. Reads the files of all processes, so that each of them gives the same answer;
 * never called on the way of a CSI call.
 */
export function volumeViews(env: Env): VolumeView[] {
  const nodes = nodeRecords(env);
  const found: { sequence: number; view: VolumeView }[] = [];
  for (const key of namesAt(env.layout.volumes)) {
    const record = readQuietly<VolumeRecord>(path.join(env.layout.volumes, key, 'volume.json'), ['id']);
    if (record) found.push({ sequence: record.sequence, view: viewOf(record, nodes) });
  }
  return found.sort((a, b) => a.sequence - b.sequence).map(({ view }) => view);
}

export function volumeView(env: Env, id: string): VolumeView | undefined {
  const record = readQuietly<VolumeRecord>(path.join(env.layout.volumes, keyOf(id), 'volume.json'), ['id']);
  return record && viewOf(record, nodeRecords(env));
}

function viewOf(record: VolumeRecord, nodes: readonly NodeRecords[]): VolumeView {
  const { id, name, origin, backend, accessTypes, capacityBytes, claim, parameters } = record;
  const stages = nodes.flatMap(({ node, stages: all }) =>
    all.filter(({ volumeId }) => volumeId === id).map((stage) => ({ node, stage })),
  );
  const targets = nodes.flatMap(({ node, publications }) =>
    publications
      .filter(({ volumeId }) => volumeId === id)
      .map(({ targetPath, readOnly, pod }) => ({
        node,
        path: targetPath,
        readOnly,
        ...(Object.keys(pod).length > 0 && { pod }),
      })),
  );
  const attachedTo = Object.keys(record.attachments);
  const scenario = parameters.scenario ?? record.context.scenario;
  const fsType = record.fsType || stages.find(({ stage }) => stage.fsType !== '')?.stage.fsType || '';
  return {
    id,
    name,
    state: stateOf(attachedTo.length, stages.length, targets.length),
    origin,
    backend,
    fsType,
    accessTypes,
    capacityBytes,
    ...(claim.name !== undefined && {
      pvc: { name: claim.name, ...(claim.namespace !== undefined && { namespace: claim.namespace }) },
    }),
    ...(parameters.storageClass !== undefined && { storageClass: parameters.storageClass }),
    ...(scenario !== undefined && { scenario }),
    parameters: { ...parameters, ...record.mutable },
    attributes: { ...record.context, ...record.attributes },
    attachedTo,
    stages: stages.map(({ node, stage }) => ({ node, path: stage.stagingPath })),
    targets,
  };
}

function stateOf(attached: number, staged: number, published: number): VolumeState {
  if (published > 0) return 'published';
  if (staged > 0) return 'staged';
  return attached > 0 ? 'attached' : 'created';
}

function nodeRecords(env: Env): NodeRecords[] {
  return namesAt(env.layout.nodes).map((name) => {
    const paths = env.layout.node(name);
    return {
      // An id that is no name of a folder is hashed; the record has it.
      node: readQuietly<NodeRecord>(paths.record, ['id'])?.id ?? name,
      stages: recordsIn<StageRecord>(paths.stages, ['volumeId', 'stagingPath']),
      publications: recordsIn<PublicationRecord>(paths.publications, ['volumeId', 'targetPath']),
    };
  });
}

function recordsIn<T extends { version: number }>(
  folder: string,
  required: readonly (keyof T & string)[],
): T[] {
  return namesAt(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const record = readQuietly<T>(path.join(folder, name), required);
      return record ? [record] : [];
    });
}

/** What is being written or is broken at this moment is left out: this only looks. */
function readQuietly<T extends { version: number }>(
  file: string,
  required: readonly (keyof T & string)[],
): T | undefined {
  try {
    return readRecord<T>(file, required);
  } catch {
    return undefined;
  }
}

function namesAt(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
}

/** What is left on this machine of volumes that no record tells of. Reads the mount table: not for the way of a call. */
export async function leaksOf(env: Env): Promise<Leaks> {
  const nodes = nodeRecords(env);
  const staged = new Set(nodes.flatMap(({ stages }) => stages.map(({ volumeId }) => keyOf(volumeId))));
  const places = new Set(
    nodes.flatMap(({ stages, publications }) => [
      ...stages.map(({ stagingPath }) => stagingPath),
      ...publications.map(({ targetPath }) => targetPath),
    ]),
  );
  const ours = new Map<number, string>();
  const disks = await env.host.loops.list(
    (file) =>
      path.basename(withoutUnlinkedMark(file)) === DISK_NAME && file.startsWith(`${env.layout.volumes}/`),
  );
  for (const { index, path: device, backing } of disks) {
    const file = withoutUnlinkedMark(backing.path);
    ours.set(index, staged.has(path.basename(path.dirname(file))) ? '' : `${device} over ${file}`);
  }
  const mounts = (await env.host.mounts.list()).filter(({ source, root, mountPoint }) => {
    const index = loopIndexOf(source) ?? loopIndexOf(`/dev${root}`);
    return index !== undefined && ours.has(index) && !places.has(mountPoint);
  });
  return {
    loops: [...ours.values()].filter((leak) => leak !== ''),
    mounts: mounts.map(({ mountPoint, source }) => `${source} at ${mountPoint}`),
    frozen: namesAt(env.node?.store.paths.undo ?? env.layout.undo).filter((name) =>
      name.startsWith('freeze-'),
    ),
  };
}
