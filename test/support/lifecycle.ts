import { MODE } from '../../src/conformance/capability';
import type { CsiClient } from '../../src/csi/client';
import type { VolumeCapability } from '../../src/csi/gen/csi/v1/VolumeCapability';

export { MODE };

/** What tests use of a driver, be it in this process or in another. */
export interface DriverLike {
  csi: CsiClient;
  /** An existing folder, as a CO makes for staging. */
  folder(name: string): Promise<string>;
  /** A path whose parent exists, as a CO prepares for a target. */
  target(name: string): Promise<string>;
}

export const MIB = 2 ** 20;

export function mountCapability(
  options: { mode?: keyof typeof MODE; fsType?: string; mountFlags?: string[]; group?: string } = {},
): VolumeCapability {
  return {
    mount: {
      fs_type: options.fsType ?? '',
      mount_flags: options.mountFlags ?? [],
      volume_mount_group: options.group ?? '',
    },
    access_mode: { mode: MODE[options.mode ?? 'SINGLE_NODE_WRITER'] },
  };
}

export function blockCapability(mode: keyof typeof MODE = 'SINGLE_NODE_WRITER'): VolumeCapability {
  return { block: {}, access_mode: { mode: MODE[mode] } };
}

export interface UsedVolume {
  id: string;
  staging: string;
  target: string;
  publishContext: Record<string, string>;
  capability: VolumeCapability;
}

export interface UseOptions {
  name?: string;
  size?: number | string;
  capability?: VolumeCapability;
  parameters?: Record<string, string>;
  mutableParameters?: Record<string, string>;
  /** Clone or restore. */
  source?: { snapshot: { snapshot_id: string } } | { volume: { volume_id: string } };
  readonly?: boolean;
  volumeContext?: Record<string, string>;
}

let lastName = 0;

/** A new volume, created only. */
export async function createVolume(driver: DriverLike, options: UseOptions = {}): Promise<string> {
  const { volume } = await driver.csi.CreateVolume({
    name: options.name ?? `volume-${++lastName}`,
    capacity_range: { required_bytes: `${options.size ?? 64 * MIB}` },
    volume_capabilities: [options.capability ?? mountCapability()],
    parameters: options.parameters ?? {},
    mutable_parameters: options.mutableParameters ?? {},
    volume_content_source: options.source ?? null,
  });
  return volume?.volume_id ?? '';
}

/** Attaches and stages a volume. */
export async function stage(driver: DriverLike, id: string, options: UseOptions = {}): Promise<UsedVolume> {
  const capability = options.capability ?? mountCapability();
  const { node_id } = await driver.csi.NodeGetInfo();
  const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
    volume_id: id,
    node_id,
    volume_capability: capability,
  });
  const staging = await driver.folder(`${id}-staging`);
  await driver.csi.NodeStageVolume({
    volume_id: id,
    publish_context: publishContext,
    staging_target_path: staging,
    volume_capability: capability,
  });
  return { id, staging, target: await driver.target(id), publishContext, capability };
}

export async function publish(driver: DriverLike, used: UsedVolume, readonly = false): Promise<void> {
  await driver.csi.NodePublishVolume({
    volume_id: used.id,
    publish_context: used.publishContext,
    staging_target_path: used.staging,
    target_path: used.target,
    volume_capability: used.capability,
    readonly,
  });
}

/** Create, attach, stage and publish, as a pod's volume goes. */
export async function use(driver: DriverLike, options: UseOptions = {}): Promise<UsedVolume> {
  const used = await stage(driver, await createVolume(driver, options), options);
  await publish(driver, used, options.readonly);
  return used;
}

/** Everything back to nothing: unpublish, unstage, detach, delete. */
export async function dispose(driver: DriverLike, used: UsedVolume): Promise<void> {
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  await release(driver, used);
}

/** As `dispose`, for a volume that is not published. */
export async function release(driver: DriverLike, used: UsedVolume): Promise<void> {
  await driver.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
  await driver.csi.ControllerUnpublishVolume({ volume_id: used.id });
  await driver.csi.DeleteVolume({ volume_id: used.id });
}
