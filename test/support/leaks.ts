import * as fs from 'node:fs';
import type { Host } from '../../src/host/host';

/** What a test may leave behind on a machine. */
export interface Traces {
  /** Mount points below a folder, in the order of the mount table. */
  mounts: string[];
  /** Files below a folder that a loop device is attached to. */
  loops: string[];
}

export const NO_TRACES: Traces = { mounts: [], loops: [] };

/** What of the mount table and of the loop devices lies below `folder`; others' are none of this test's business. */
export async function tracesBelow(host: Host, folder: string): Promise<Traces> {
  const table = await host.mounts.list();
  return {
    mounts: table.map(({ mountPoint }) => mountPoint).filter((path) => path.startsWith(`${folder}/`)),
    loops: attachedBelow(folder).map(({ file }) => file),
  };
}

export interface Attached {
  index: number;
  file: string;
}

/** Loop devices over files below `folder`, from /sys: a machine may have many, and their state is nobody's business here. */
export function attachedBelow(folder: string): Attached[] {
  return fs.readdirSync('/sys/block').flatMap((name) => {
    const index = /^loop(\d+)$/.exec(name)?.[1];
    if (index === undefined) return [];
    const file = backingFile(name);
    return file?.startsWith(`${folder}/`) ? [{ index: Number(index), file }] : [];
  });
}

function backingFile(device: string): string | undefined {
  try {
    return fs.readFileSync(`/sys/block/${device}/loop/backing_file`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Removes every mount and loop device below `folder`, whatever state they are in, so that later tests start clean. */
export async function clearTraces(host: Host, folder: string): Promise<void> {
  const { mounts } = await tracesBelow(host, folder);
  for (const mountPoint of mounts.reverse()) {
    await host.mounts.thaw(mountPoint).catch(() => undefined);
    await host.mounts.unmount(mountPoint, { lazy: true }).catch(() => undefined);
  }
  for (const { index } of attachedBelow(folder)) await host.loops.detach(index);
}
