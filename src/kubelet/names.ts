import { createHash } from 'node:crypto';
import * as path from 'node:path';

const PLUGIN = 'kubernetes.io/csi';
/** A plugin's name as a folder: the slash is escaped. */
const PLUGIN_FOLDER = 'kubernetes.io~csi';

/** The last folder of a staging path is that of the volume's handle. */
export function stagingKey(volumeHandle: string): string {
  return sha256(volumeHandle);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The kubelet's name of a volume that a PersistentVolume stands for: two of them with one handle are one volume. */
export function uniqueVolumeName(driver: string, volumeHandle: string): string {
  return `${PLUGIN}/${driver}^${volumeHandle}`;
}

/** The kubelet's name of an inline volume. */
export function uniqueInlineName(podUid: string, volumeName: string): string {
  return `${PLUGIN}/${podUid}-${volumeName}`;
}

/** volume_id of an inline volume. */
export function inlineVolumeHandle(podUid: string, volumeName: string): string {
  return `csi-${sha256(podUid + volumeName)}`;
}

export function volumeAttachmentName(volumeHandle: string, driver: string, node: string): string {
  return `csi-${sha256(volumeHandle + driver + node)}`;
}

/** The folders and files of a kubelet below its root directory. */
export class KubeletPaths {
  constructor(readonly root: string) {}

  get pods(): string {
    return path.join(this.root, 'pods');
  }

  pod(uid: string): string {
    return path.join(this.pods, uid);
  }

  podVolumes(uid: string): string {
    return path.join(this.pod(uid), 'volumes');
  }

  podCsiVolumes(uid: string): string {
    return path.join(this.podVolumes(uid), PLUGIN_FOLDER);
  }

  /** Holds `mount` and vol_data.json. `specName`: of the PersistentVolume, or of the inline volume in its pod. */
  podVolume(uid: string, specName: string): string {
    return path.join(this.podCsiVolumes(uid), specName.replaceAll('/', '~'));
  }

  /** target_path: made by the driver, its parent by the kubelet. */
  target(uid: string, specName: string): string {
    return path.join(this.podVolume(uid, specName), 'mount');
  }

  /** Holds `globalmount` and vol_data.json. */
  globalVolume(driver: string, volumeHandle: string): string {
    return path.join(this.root, 'plugins', PLUGIN, driver, sha256(volumeHandle));
  }

  /** staging_target_path of a filesystem, made by the kubelet. */
  staging(driver: string, volumeHandle: string): string {
    return path.join(this.globalVolume(driver, volumeHandle), 'globalmount');
  }

  /** Holds a folder for each driver, and `volumeDevices`. */
  get csiPlugin(): string {
    return path.join(this.root, 'plugins', PLUGIN);
  }

  /** Holds what raw block volumes need besides the pods' own links. */
  get volumeDevices(): string {
    return path.join(this.csiPlugin, 'volumeDevices');
  }

  /** Holds `dev` with a file for each pod, and `data` with vol_data.json. */
  blockVolume(specName: string): string {
    return path.join(this.volumeDevices, specName);
  }

  /** Holds vol_data.json of a raw block volume. */
  blockData(specName: string): string {
    return path.join(this.blockVolume(specName), 'data');
  }

  /** staging_target_path of a raw block volume: a folder, made by the kubelet. */
  blockStaging(specName: string): string {
    return path.join(this.volumeDevices, 'staging', specName);
  }

  /** target_path of a raw block volume: made by the driver, its parent by the kubelet. */
  blockTarget(specName: string, uid: string): string {
    return path.join(this.volumeDevices, 'publish', specName, uid);
  }

  /** The folder of the global map; `globalMapPath` in events. */
  blockMap(specName: string): string {
    return path.join(this.blockVolume(specName), 'dev');
  }

  podDevices(uid: string): string {
    return path.join(this.pod(uid), 'volumeDevices');
  }

  podCsiDevices(uid: string): string {
    return path.join(this.podDevices(uid), PLUGIN_FOLDER);
  }

  /** The pod's own link to the device; `volumeMapPath` in events is the folder that it is in. */
  podDevice(uid: string, specName: string): string {
    return path.join(this.podCsiDevices(uid), specName);
  }

  /** Where subPaths of a volume are bound: `<container>/<index>` below it. */
  podSubPaths(uid: string, specName: string): string {
    return path.join(this.pod(uid), 'volume-subpaths', specName);
  }

  get registrationSockets(): string {
    return path.join(this.root, 'plugins_registry');
  }
}
