import { invalidArgument } from '../../csi/status';
import type { Env } from '../env';

/**
 * The driver's own data is no place for a volume: a mount in it or above it would hide every other volume, and what lies in
 * it is not a target's to remove.
 * @throws CsiError INVALID_ARGUMENT
 */
export function checkOutsideData(env: Env, field: 'staging_target_path' | 'target_path', path: string): void {
  const { root } = env.layout;
  if (!isWithin(path, root) && !isWithin(root, path)) return;
  const where = path === root ? 'that folder itself' : isWithin(path, root) ? 'in it' : 'above it';
  throw invalidArgument(
    `${field}: expected a path apart from the driver's data folder ${root}, found ${JSON.stringify(path)}, ${where}; nothing was done`,
  );
}

/**
 * A target is not the stage it is bound from, nor in the volume that is mounted there.
 * @throws CsiError INVALID_ARGUMENT
 */
export function checkOutsideStage(targetPath: string, stagingPath: string): void {
  if (stagingPath === '' || !isWithin(targetPath, stagingPath)) return;
  throw invalidArgument(
    `target_path: expected a path apart from the staging_target_path ${stagingPath}, found ${JSON.stringify(targetPath)}`,
  );
}

/** Whether a plain path is a folder or something in it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Whether one mount is at both paths: the folders above may be links, so that it has several names. */
export async function isSameMount(env: Env, one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => env.host.mounts.look(path).catch(() => undefined)),
  );
  return a?.mount !== undefined && a.mount !== null && a.mount.mountId === b?.mount?.mountId;
}
