import { type FsType, type Host, HostError } from '../host/host';
import type { DeviceFault, StageOrder, Steps } from './backend';
import type { DiskMounting } from './disk-mounting';
import { letGo } from './let-go';

/**
 * The kernel is asked for a device that is not there.
 * @throws HostError as it says so
 */
export async function stageMissing(
  host: Host,
  { accessType, stagingPath: target, readOnly }: StageOrder,
  device: string,
  mountAs: FsType,
  steps: Steps,
): Promise<never> {
  await steps.point('beforeAttach');
  const absent = `special device ${device} does not exist`;
  // A raw device is only looked up.
  if (accessType === 'block') throw new HostError('ENOENT', 'stat', `stat: ${absent}`);
  await host.mounts.mount({ fsType: mountAs, source: device, target, readOnly, options: [] });
  await letGo(host, target);
  throw new HostError('EEXIST', 'mount', `expected that ${absent}, but it was mounted at ${target}`);
}

/**
 * Another image in place of the volume's own disk, which is left alone. It is there to be refused: one that the kernel
 * takes all the same (`noload`) is given back, and the volume is staged as if it had never been.
 * @throws HostError as the kernel refuses it
 */
export async function trySubstitute(
  host: Host,
  mounting: DiskMounting,
  order: StageOrder,
  { disk, mountAs }: DeviceFault,
  steps: Steps,
): Promise<void> {
  if (disk === undefined || mountAs === undefined) return;
  const at = { ...order.at, disk };
  await mounting.mount({ ...order, at, loop: undefined }, { fsType: mountAs }, steps);
  // With autoclear the loop device goes with its mount.
  await letGo(host, order.stagingPath);
  steps.effect(`the kernel mounted ${disk} all the same: it was unmounted again`);
}
