import type { Host } from '../../src/host/host';

/** What a test may leave behind on a machine. */
export interface Traces {
  /** Mount points below a folder, in the order of the mount table. */
  mounts: string[];
  /** Files below a folder that a loop device is attached to. */
  loops: string[];
}

/** What of the mount table and of the loop devices lies below `folder`; others' are none of this test's business. */
export async function tracesBelow(host: Host, folder: string): Promise<Traces> {
  const inside = (path: string) => path.startsWith(`${folder}/`);
  const table = await host.mounts.list();
  const attached = await host.loops.list();
  return {
    mounts: table.map(({ mountPoint }) => mountPoint).filter(inside),
    loops: attached.map(({ backing }) => backing.path).filter(inside),
  };
}

export const NO_TRACES: Traces = { mounts: [], loops: [] };

/** Removes every mount and loop device below `folder`, whatever state they are in, so that later tests start clean. */
export async function clearTraces(host: Host, folder: string): Promise<void> {
  const { mounts } = await tracesBelow(host, folder);
  for (const mountPoint of mounts.reverse()) {
    await host.mounts.thaw(mountPoint).catch(() => undefined);
    await host.mounts.unmount(mountPoint, { lazy: true }).catch(() => undefined);
  }
  for (const { index, backing } of await host.loops.list())
    if (backing.path.startsWith(`${folder}/`)) await host.loops.detach(index);
}
