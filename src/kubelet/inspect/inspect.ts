import * as path from 'node:path';
import { KubeletPaths } from '../names';
import type { KubeletVersion } from '../versions';
import { isUnreadable, listFolder } from './careful';
import type { MountTable } from './mount-table';
import { type Look, lookAtPods } from './pods';
import type { Finding, Inspection, SeenVolume } from './report';
import { lookAtDevices, lookAtStages } from './stages';

export interface InspectOptions {
  /** The kubelet's --root-dir. */
  readonly root: string;
  readonly version: KubeletVersion;
  readonly mounts: MountTable;
  /** For people: whose mounts they are. */
  readonly mountsOf: string;
}

/**
 * Reads a kubelet's folder, a real one or a rehearsal's: what is there, what of it does not fit, and what a kubelet that
 * starts now does about it. Changes nothing, goes behind no mount point, and one bad file ends nothing.
 */
export function inspectFolder({ root, version, mounts, mountsOf }: InspectOptions): Inspection {
  const findings: Finding[] = [];
  const paths = new KubeletPaths(root);
  const look: Look = { paths, mounts, version, find: (finding) => findings.push(finding) };
  const { pods, volumes } = lookAtPods(look);
  const staged = [...lookAtStages(look, volumes), ...lookAtDevices(look, volumes)];
  const registrationSockets = socketsIn(look, paths.registrationSockets, 3);
  const driverFolders = lookAtDriverFolders(look);
  findings.push(...sharedHandles(volumes, paths), ...unregistered(volumes, registrationSockets, paths));
  return {
    root,
    kubelet: version,
    mountsOf,
    pods,
    volumes,
    staged,
    registrationSockets,
    driverFolders,
    findings: findings.sort((a, b) => RANK[a.severity] - RANK[b.severity] || compare(a.path, b.path)),
  };
}

const RANK = { error: 0, warning: 1, note: 2 } as const;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function socketsIn({ find }: Look, folder: string, depth: number): string[] {
  const listed = listFolder(folder);
  if (isUnreadable(listed)) {
    find({
      severity: 'error',
      code: 'unreadable',
      path: folder,
      text: listed.reason,
      kubelet: 'sees no driver register there',
    });
    return [];
  }
  return listed.flatMap(({ name, kind }) => {
    const place = path.join(folder, name);
    if (kind === 'socket') return name.startsWith('.') ? [] : [place];
    return kind === 'folder' && depth > 0 ? socketsIn({ find } as Look, place, depth - 1) : [];
  });
}

function lookAtDriverFolders(look: Look): { name: string; sockets: string[] }[] {
  const folder = path.join(look.paths.root, 'plugins');
  const listed = listFolder(folder);
  if (isUnreadable(listed)) return [];
  return listed
    .filter(({ name, kind }) => kind === 'folder' && name !== 'kubernetes.io')
    .map(({ name }) => ({ name, sockets: socketsIn(look, path.join(folder, name), 1) }));
}

/** Two PersistentVolumes with one handle are one volume for the kubelet. */
function sharedHandles(volumes: readonly SeenVolume[], paths: KubeletPaths): Finding[] {
  const names = new Map<string, Set<string>>();
  for (const { data, name } of volumes) {
    if (data?.volumeHandle === undefined || data.volumeLifecycleMode === 'Ephemeral') continue;
    const key = `${data.driverName}^${data.volumeHandle}`;
    names.set(key, (names.get(key) ?? new Set()).add(name));
  }
  return [...names]
    .filter(([, set]) => set.size > 1)
    .map(([key, set]) => ({
      severity: 'warning' as const,
      code: 'handle-twice',
      path: paths.pods,
      text: `PersistentVolumes ${[...set].sort().join(' and ')} have one handle (${key})`,
      kubelet: 'they are one volume to it: staged once, published from one stage',
    }));
}

/** By the name that node-driver-registrar gives its socket: others may give another. */
function unregistered(
  volumes: readonly SeenVolume[],
  sockets: readonly string[],
  paths: KubeletPaths,
): Finding[] {
  const drivers = new Set(volumes.flatMap(({ data }) => data?.driverName ?? []));
  const named = sockets.map((socket) => path.basename(socket));
  return [...drivers]
    .filter((driver) => !named.some((name) => name.includes(driver)))
    .sort()
    .map((driver) => ({
      severity: 'note' as const,
      code: 'driver-not-registered',
      path: paths.registrationSockets,
      text: `no socket is named after the driver ${driver}`,
      kubelet: `until one registers it: "driver name ${driver} not found in the list of registered CSI drivers", and nothing is mounted or unmounted`,
    }));
}
