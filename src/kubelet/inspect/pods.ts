import * as path from 'node:path';
import type { KubeletPaths } from '../names';
import type { KubeletVersion } from '../versions';
import { isUnreadable, linkTarget, listFolder } from './careful';
import type { MountTable } from './mount-table';
import type { Finding, SeenVolume } from './report';
import { checkVolData } from './vol-data-check';

export interface Look {
  readonly paths: KubeletPaths;
  readonly mounts: MountTable;
  readonly version: KubeletVersion;
  readonly find: (finding: Finding) => void;
}

const NEVER_UNMOUNTED =
  'cannot reconstruct the volume ("failed reconstruction"): no NodeUnpublishVolume is ever sent for it, and the pod folder stays';

/** The pods' folders, as a kubelet that starts searches them. Others than CSI's are not ours to judge. */
export function lookAtPods(look: Look): { pods: string[]; volumes: SeenVolume[] } {
  const { paths, find } = look;
  const listed = listFolder(paths.pods);
  if (isUnreadable(listed)) {
    find(unreadable(paths.pods, listed.reason, 'cannot start: it reads this folder first'));
    return { pods: [], volumes: [] };
  }
  const pods = listed.filter(({ kind }) => kind === 'folder').map(({ name }) => name);
  for (const { name, kind } of listed)
    if (kind !== 'folder') find(strange(path.join(paths.pods, name), kind, 'the folder of a pod'));
  const volumes = pods.flatMap((uid) => [...filesystems(look, uid), ...devices(look, uid)]);
  return { pods, volumes };
}

export function unreadable(place: string, reason: string, kubelet: string): Finding {
  return { severity: 'error', code: 'unreadable', path: place, text: reason, kubelet };
}

export function strange(place: string, kind: string, expected: string): Finding {
  return {
    severity: 'warning',
    code: 'unexpected-file',
    path: place,
    text: `expected ${expected}, found a ${kind}`,
    kubelet: 'leaves it; a folder that holds it cannot be removed',
  };
}

function filesystems(look: Look, uid: string): SeenVolume[] {
  const { paths, mounts, find } = look;
  const folder = paths.podCsiVolumes(uid);
  const listed = listFolder(folder);
  if (isUnreadable(listed)) {
    find(unreadable(folder, listed.reason, NEVER_UNMOUNTED));
    return [];
  }
  const seen: SeenVolume[] = [];
  const known = new Set<string>();
  for (const { name, kind } of listed) {
    const place = path.join(folder, name);
    if (kind !== 'folder') {
      find(strange(place, kind, "a volume's folder"));
      continue;
    }
    known.add(path.join(place, 'mount'));
    seen.push(filesystem(look, uid, name, place));
  }
  for (const { mountPoint } of mounts.below(folder))
    if (!known.has(mountPoint) && ![...known].some((mount) => mountPoint.startsWith(`${mount}/`)))
      find({
        severity: 'error',
        code: 'mount-unexpected',
        path: mountPoint,
        text: 'mounted in the folder of a pod, at no place that a kubelet gives',
        kubelet: 'does not unmount it; the pod does not go while it is there',
      });
  return seen;
}

function filesystem(look: Look, podUid: string, name: string, place: string): SeenVolume {
  const { paths, mounts, find } = look;
  const target = path.join(place, 'mount');
  const mount = mounts.seen(target);
  const checked = checkVolData(
    place,
    'pod',
    mount === undefined
      ? `${NEVER_UNMOUNTED}; housekeeping removes what is empty, never a file`
      : `${NEVER_UNMOUNTED}; housekeeping says "Orphaned pod found, but volumes are not cleaned up" each 2 s`,
  );
  for (const finding of checked.findings) find(finding);
  const { data } = checked;
  if (data?.specVolID !== undefined && data.specVolID.replaceAll('/', '~') !== name)
    find({
      severity: 'error',
      code: 'wrong-name',
      path: checked.file,
      text: `expected specVolID ${JSON.stringify(name)}, the name of its folder; found ${JSON.stringify(data.specVolID)}`,
      kubelet: `takes it for a volume ${data.specVolID}, and looks for that one's folder at teardown`,
    });
  if (data && mount === undefined)
    find({
      severity: 'warning',
      code: 'not-mounted',
      path: target,
      text: 'vol_data.json is there and nothing is mounted, as after a reboot or before the first answer of NodePublishVolume',
      kubelet:
        data.volumeLifecycleMode === 'Ephemeral'
          ? 'NodePublishVolume if a pod wants it, else NodeUnpublishVolume: a driver must look at the mount, not at its records'
          : 'NodeStageVolume and NodePublishVolume if a pod wants it, else NodeUnpublishVolume: a driver must look at the mount, not at its records',
    });
  mountFindings(look, target, 'a NodeUnpublishVolume that unmounts once says OK and the pod does not go');
  return {
    podUid,
    name,
    mode: 'Filesystem',
    data,
    mount,
    subPaths: mounts.below(paths.podSubPaths(podUid, name)).map(({ mountPoint }) => mountPoint),
    afterRestart: data ? outlook(look, data) : [NEVER_UNMOUNTED],
  };
}

/** What may be wrong with a mount, wherever it is. */
export function mountFindings({ mounts, find }: Look, place: string, whenStacked: string): void {
  const seen = mounts.seen(place);
  if (seen && seen.layers > 1)
    find({
      severity: 'error',
      code: 'mount-stacked',
      path: place,
      text: `mounted ${seen.layers} times over itself`,
      kubelet: whenStacked,
    });
  const problem = mounts.problemAt(place);
  if (problem !== undefined)
    find({
      severity: 'error',
      code: 'mount-dead-device',
      path: place,
      text: `mounted from ${seen?.source}: ${problem}`,
      kubelet: 'does not look: the pod keeps the mount, with whatever the device still gives',
    });
}

/** Facts of a restart: everything is Uncertain, and whether the pod still exists only the API server knows. */
function outlook({ version, mounts, paths }: Look, data: Record<string, string>): string[] {
  const { driverName = '', volumeHandle = '' } = data;
  if (data.volumeLifecycleMode === 'Ephemeral')
    return [
      'reconstructed, pod mount Uncertain',
      'the pod is there: NodePublishVolume again, at the same path',
      'the pod is gone: NodeUnpublishVolume',
      ...finalError(version),
    ];
  const stages = mounts.at(paths.staging(driverName, volumeHandle)) !== undefined;
  return [
    'reconstructed, device and pod mount Uncertain',
    `the pod is there: NodeStageVolume (if the driver stages) and NodePublishVolume again, at the same paths${stages ? ', on what is mounted already' : ''}`,
    'the pod is gone: NodeUnpublishVolume, then NodeUnstageVolume once globalmount is mounted nowhere else',
    ...finalError(version),
  ];
}

function finalError(version: KubeletVersion): string[] {
  return version === '1.32'
    ? [
        'a final error of that NodePublishVolume removes vol_data.json if nothing is mounted: no NodeUnpublishVolume can follow (1.32)',
      ]
    : ['a final error of that NodePublishVolume leaves it Uncertain, and vol_data.json stays (1.36)'];
}

function devices(look: Look, uid: string): SeenVolume[] {
  const { paths, find } = look;
  const folder = paths.podCsiDevices(uid);
  const listed = listFolder(folder);
  if (isUnreadable(listed)) {
    find(unreadable(folder, listed.reason, NEVER_UNMOUNTED));
    return [];
  }
  return listed.flatMap(({ name, kind }) => {
    if (kind === 'link') return [device(look, uid, name)];
    find(strange(path.join(folder, name), kind, 'a link to a device'));
    return [];
  });
}

function device(look: Look, podUid: string, name: string): SeenVolume {
  const { paths, mounts, find } = look;
  const link = paths.podDevice(podUid, name);
  const map = path.join(paths.blockMap(name), podUid);
  const mount = mounts.seen(map);
  const checked = checkVolData(paths.blockData(name), 'block', NEVER_UNMOUNTED);
  for (const finding of checked.findings) find(finding);
  if (mount === undefined)
    find({
      severity: 'warning',
      code: 'not-mapped',
      path: map,
      text: `the pod has a link (to ${linkTarget(link)}) and nothing is bound at the global map, as after a reboot`,
      kubelet: 'NodeStageVolume and NodePublishVolume if a pod wants it, else NodeUnpublishVolume',
    });
  mountFindings(look, map, 'one unmount leaves the other: the volume cannot be unstaged');
  return {
    podUid,
    name,
    mode: 'Block',
    data: checked.data,
    mount,
    subPaths: [],
    afterRestart: checked.data
      ? [
          'reconstructed, device and pod map Uncertain',
          'the pod is there: NodeStageVolume and NodePublishVolume again, at the same paths',
          'the pod is gone: its loop device is detached, its link and its bind mount go, then NodeUnpublishVolume and NodeUnstageVolume',
        ]
      : [NEVER_UNMOUNTED],
  };
}
