import { letGo } from '../../backends/let-go';
import type { FsType, Host } from '../../host/host';

/**
 * Mounts an image at a folder of ours.
 * @param beside also beside a mounted filesystem of the same UUID, which xfs does not allow by itself
 * @returns the function that unmounts it, and with it the loop device
 */
export async function mountPrivately(
  host: Host,
  image: string,
  fsType: FsType,
  mountPoint: string,
  beside: boolean,
): Promise<() => Promise<void>> {
  const loop = await host.loops.attach(image, { readOnly: false, autoclear: true });
  try {
    await host.mounts.mount({
      fsType,
      source: loop.path,
      target: mountPoint,
      readOnly: false,
      options: beside && fsType === 'xfs' ? ['nouuid'] : [],
    });
  } finally {
    await loop.release();
  }
  return () => letGo(host, mountPoint);
}
