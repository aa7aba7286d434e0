import { realpath } from 'node:fs/promises';
import type { Argv } from 'yargs';
import type { Host } from '../../host/host';
import type { Command } from '../command';
import { connect, type DriverArguments, driverOptions } from '../connect';
import { dataDirOf } from '../data-dir';
import { EXIT } from '../exit-codes';
import { print, printJson } from '../output';

interface Ability {
  name: string;
  available: boolean;
  why?: string | undefined;
}

export const doctor: Command<DriverArguments> = {
  command: 'doctor',
  describe: 'Say what this machine lets a driver do, and what is left behind on it',
  builder: (y: Argv) => y.options(driverOptions).epilogue('Without a driver it looks for itself.'),
  run: async (args) => {
    const found = await ask(args);
    const leaks = found.leaks ?? { loops: [], mounts: [], frozen: [] };
    const left = [...leaks.loops, ...leaks.mounts, ...leaks.frozen];
    if (args.json) printJson(found);
    else {
      print(
        found.process === undefined
          ? 'no driver runs; this is what one could do here'
          : `driver ${found.process}`,
      );
      for (const { name, available, why } of found.abilities)
        print(`  ${available ? '✓' : '✗'} ${name}${why === undefined ? '' : `: ${why}`}`);
      for (const leak of left) print(`  ✗ left behind: ${leak}`);
    }
    return left.length > 0 ? EXIT.FAILED : EXIT.OK;
  },
};

const KUBELET_DIR = '/var/lib/kubelet';

/** Where there is a kubelet, or its folder in a container: whether it would see what a driver mounts here. */
async function aboutKubelet(host: Host): Promise<true | string | undefined> {
  const { mountsReachKubelet } =
    require('../../server/registration/propagation') as typeof import('../../server/registration/propagation');
  const real = await realpath(KUBELET_DIR).catch(() => undefined);
  return real === undefined ? undefined : mountsReachKubelet(real, await host.mounts.list());
}

async function ask(args: DriverArguments): Promise<{
  process?: string;
  abilities: Ability[];
  leaks?: { loops: string[]; mounts: string[]; frozen: string[] };
}> {
  try {
    return await (await connect(args)).doctor();
  } catch (error) {
    if ((error as { code?: string }).code !== 'unreachable' || args.control !== undefined) throw error;
  }
  const { createLinuxHost } = require('../../host/linux') as typeof import('../../host/linux');
  const { ability, abilitiesOf, MOUNT_PROPAGATION } =
    require('../../server/abilities') as typeof import('../../server/abilities');
  const dataDir = dataDirOf(args.dataDir);
  const host = createLinuxHost({ stateDir: dataDir, cacheDir: `${dataDir}/cache` });
  const found = abilitiesOf(await host.abilities());
  const reach = await aboutKubelet(host);
  if (reach !== undefined) found.push(ability(MOUNT_PROPAGATION, reach));
  return { abilities: found };
}
