import * as path from 'node:path';
import { DriverProcess } from './driver-process';
import { type Kind, writeMark } from './kinds';
import { type UsedVolume, use } from './lifecycle';
import type { RealMachine } from './machine';

/** What a driver left that was killed. */
export interface Left {
  dataDir: string;
  /** Staged, published, and marked with 'kept'. */
  volumes: UsedVolume[];
}

/** @param frozen killed in the middle of a group snapshot, which holds the filesystems still. */
export async function killedDriver(
  machine: RealMachine,
  kinds: readonly Kind[],
  { frozen = false } = {},
): Promise<Left> {
  const dataDir = path.join(machine.folder('d'), 'data');
  const child = await DriverProcess.start({
    root: machine.root,
    dataDir,
    hold: { method: 'CreateVolumeGroupSnapshot', point: 'copied' },
    capabilities: 'all',
    refuseGrowth: false,
  });
  try {
    const volumes: UsedVolume[] = [];
    for (const kind of kinds) {
      const used = await use(child, kind.options());
      await writeMark(kind, used, 'kept');
      volumes.push(used);
    }
    if (frozen) {
      await child.arm();
      const cut = child.csi
        .CreateVolumeGroupSnapshot({ name: 'still', source_volume_ids: volumes.map(({ id }) => id) })
        .catch((error) => error);
      await child.reached(1);
      await child.kill();
      await cut;
    }
    return { dataDir, volumes };
  } finally {
    await child.kill();
  }
}
