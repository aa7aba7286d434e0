import type { Host } from '../host/host';

/** Takes a mount back that was made a moment ago, also when something has looked into it meanwhile and holds it. */
export async function letGo(host: Host, target: string): Promise<void> {
  await host.mounts
    .unmount(target)
    .catch(() => host.mounts.unmount(target, { lazy: true }))
    .catch(() => undefined);
}
