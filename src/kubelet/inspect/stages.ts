import * as path from 'node:path';
import { stagingKey } from '../names';
import { VOL_DATA_FILE } from '../vol-data';
import { isUnreadable, listFolder } from './careful';
import { type Look, mountFindings, strange, unreadable } from './pods';
import type { Finding, SeenStage, SeenVolume } from './report';
import { checkVolData } from './vol-data-check';

/** Folders below plugins/kubernetes.io/csi that are no driver's. */
const BLOCK = 'volumeDevices';
const BEFORE_1_24 = 'pv';

const NO_UNSTAGE =
  'UnmountDevice finds no identity in it: no NodeUnstageVolume is sent, and the stage is left for ever';
const FORGOTTEN =
  'only the folders of pods are searched: no NodeUnstageVolume is ever sent, and the volume is detached with its stage (k/k#85476)';

/** Stages of filesystems: plugins/kubernetes.io/csi/<driver>/<sha256 of the handle>. */
export function lookAtStages(look: Look, volumes: readonly SeenVolume[]): SeenStage[] {
  const { paths, find } = look;
  const drivers = listFolder(paths.csiPlugin);
  if (isUnreadable(drivers)) {
    find(unreadable(paths.csiPlugin, drivers.reason, 'can stage nothing'));
    return [];
  }
  return drivers.flatMap(({ name: driver, kind }) => {
    if (driver === BLOCK) return [];
    const folder = path.join(paths.csiPlugin, driver);
    if (driver === BEFORE_1_24) {
      find({
        severity: 'warning',
        code: 'stage-of-old-kubelet',
        path: folder,
        text: 'stages of a kubelet before 1.24 (…/csi/pv/<PersistentVolume>/globalmount)',
        kubelet: 'does not look here',
      });
      return [];
    }
    const listed = kind === 'folder' ? listFolder(folder) : [];
    if (kind !== 'folder') find(strange(folder, kind, "a driver's folder"));
    if (isUnreadable(listed)) {
      find(unreadable(folder, listed.reason, 'cannot stage or unstage volumes of this driver'));
      return [];
    }
    return listed.flatMap(({ name, kind: what }) => {
      const place = path.join(folder, name);
      if (what === 'folder') return [stage(look, driver, name, place, volumes)];
      find(strange(place, what, "a volume's folder"));
      return [];
    });
  });
}

function stage(
  look: Look,
  driver: string,
  key: string,
  folder: string,
  volumes: readonly SeenVolume[],
): SeenStage {
  const { mounts, find, version } = look;
  const place = path.join(folder, 'globalmount');
  const mount = mounts.seen(place);
  const checked = checkVolData(folder, 'global', NO_UNSTAGE);
  const { data } = checked;
  const users = volumes.filter(
    ({ mode, data: own }) =>
      mode === 'Filesystem' &&
      own?.driverName === driver &&
      (data ? own.volumeHandle === data.volumeHandle : stagingKey(own.volumeHandle ?? '') === key),
  );
  if (checked.isThere) for (const finding of checked.findings) find(finding);
  else find(noVolData(checked.file, mount !== undefined, version === '1.32'));
  if (data) for (const finding of namesOf(data, driver, key, checked.file)) find(finding);
  if (users.length === 0 && (mount !== undefined || checked.isThere))
    find({
      severity: mount === undefined ? 'warning' : 'error',
      code: mount === undefined ? 'stage-left-over' : 'staged-no-pod',
      path: mount === undefined ? folder : place,
      text: `${mount === undefined ? 'left over' : 'staged'}, and no pod's folder holds the volume${data ? ` ${data.volumeHandle}` : ''}`,
      kubelet: FORGOTTEN,
    });
  if (mount === undefined && data)
    for (const user of users.filter((candidate) => candidate.mount !== undefined))
      find({
        severity: 'error',
        code: 'published-not-staged',
        path: place,
        text: `pod ${user.podUid} has the volume mounted, and its stage is not: perhaps a bind of the empty folder, with the data on the disk of the node`,
        kubelet: 'NodeStageVolume again if a pod wants it; the mount in the pod stays what it is',
      });
  const own = new Set(users.map((user) => look.paths.target(user.podUid, user.name)));
  const subPaths = new Set(users.flatMap((user) => user.subPaths));
  const suffix = place.slice(place.indexOf('/plugins/kubernetes.io/'));
  const others = mounts
    .references(place)
    .filter((other) => !own.has(other) && !subPaths.has(other) && !other.endsWith(suffix));
  if (others.length > 0)
    find({
      severity: 'warning',
      code: 'stage-other-references',
      path: place,
      text: `mounted also at ${others.join(', ')}`,
      kubelet:
        '"is still mounted by other references": NodeUnstageVolume is held back as long as they are there',
    });
  mountFindings(look, place, 'one NodeUnstageVolume may leave the other: the next stage lies over it');
  return {
    path: place,
    mode: 'Filesystem',
    driver,
    volumeHandle: data?.volumeHandle,
    mount,
    pods: users.map(({ podUid }) => podUid),
  };
}

function noVolData(file: string, isMounted: boolean, isOld: boolean): Finding {
  const text = `expected ${VOL_DATA_FILE} beside globalmount, found none`;
  if (isMounted)
    return { severity: 'error', code: 'stage-without-vol-data', path: file, text, kubelet: NO_UNSTAGE };
  return {
    severity: isOld ? 'warning' : 'note',
    code: 'stage-without-vol-data',
    path: file,
    text: isOld ? text : `${text}: so it is for a driver without STAGE_UNSTAGE_VOLUME`,
    kubelet: isOld ? NO_UNSTAGE : 'asks and sends nothing when it lets go of the device',
  };
}

function namesOf(data: Record<string, string>, driver: string, key: string, file: string): Finding[] {
  const wrong = (text: string): Finding => ({
    severity: 'error',
    code: 'wrong-name',
    path: file,
    text,
    kubelet: 'looks for each volume by its driver and the sha256 of its handle, and does not find this one',
  });
  const { driverName, volumeHandle } = data;
  const findings: Finding[] = [];
  if (driverName !== undefined && driverName !== driver)
    findings.push(
      wrong(`expected driverName ${JSON.stringify(driver)}, found ${JSON.stringify(driverName)}`),
    );
  if (volumeHandle !== undefined && stagingKey(volumeHandle) !== key)
    findings.push(
      wrong(
        `expected a folder ${stagingKey(volumeHandle)} for the handle ${JSON.stringify(volumeHandle)}, found ${key}`,
      ),
    );
  return findings;
}

/** Raw block volumes: their stages, and what of them belongs to no pod. */
export function lookAtDevices(look: Look, volumes: readonly SeenVolume[]): SeenStage[] {
  const { paths, mounts, find } = look;
  const listed = listFolder(paths.volumeDevices);
  if (isUnreadable(listed)) {
    find(unreadable(paths.volumeDevices, listed.reason, 'can map no raw block volume'));
    return [];
  }
  const staged = foldersIn(path.join(paths.volumeDevices, 'staging'));
  const names = listed.filter(({ name }) => name !== 'staging' && name !== 'publish').map(({ name }) => name);
  const blocks = volumes.filter(({ mode }) => mode === 'Block');
  for (const name of names)
    if (!blocks.some((volume) => volume.name === name))
      find({
        severity: 'error',
        code: 'device-no-pod',
        path: paths.blockVolume(name),
        text: 'a raw block volume that no pod has a link to',
        kubelet: FORGOTTEN,
      });
  for (const name of names)
    for (const uid of foldersIn(paths.blockMap(name)))
      if (!blocks.some((volume) => volume.name === name && volume.podUid === uid))
        find({
          severity: 'error',
          code: 'map-no-pod',
          path: path.join(paths.blockMap(name), uid),
          text: `mapped for pod ${uid}, which has no link to it`,
          kubelet: 'does not find it: its loop device and its bind mount stay',
        });
  return [...new Set([...staged, ...names])].sort().map((name) => {
    const users = blocks.filter((volume) => volume.name === name);
    const data =
      users.find((volume) => volume.data)?.data ?? checkVolData(paths.blockData(name), 'block', '').data;
    if (users.length === 0 && !names.includes(name))
      find({
        severity: 'warning',
        code: 'stage-left-over',
        path: paths.blockStaging(name),
        text: 'the stage of a raw block volume of which nothing else is there',
        kubelet: FORGOTTEN,
      });
    return {
      path: paths.blockStaging(name),
      mode: 'Block' as const,
      driver: data?.driverName ?? '',
      volumeHandle: data?.volumeHandle,
      mount: mounts.seen(paths.blockStaging(name)),
      pods: users.map(({ podUid }) => podUid),
    };
  });
}

function foldersIn(folder: string): string[] {
  const listed = listFolder(folder);
  return isUnreadable(listed) ? [] : listed.map(({ name }) => name);
}
