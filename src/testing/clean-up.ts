import type { Host } from '../host/host';

/**
 * Takes down what a driver left on the machine itself, so that its folder can be removed: a real driver's mounts and loop
 * devices outlive it.
 */
export async function takeDown(host: Host, dataDir: string): Promise<void> {
  const loops = await host.loops.list((file) => file.startsWith(`${dataDir}/`));
  const devices = new Set(loops.map(({ path }) => path));
  const mounts = (await host.mounts.list()).filter(
    ({ source, root, mountPoint }) =>
      devices.has(source) || devices.has(`/dev${root}`) || mountPoint.startsWith(`${dataDir}/`),
  );
  for (const { mountPoint } of mounts.reverse()) await host.mounts.unmount(mountPoint, { lazy: true });
  for (const { index } of loops) await host.loops.detach(index);
}
