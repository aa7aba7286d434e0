import type { Argv } from 'yargs';
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
  const { abilitiesOf } = require('../../server/abilities') as typeof import('../../server/abilities');
  const dataDir = dataDirOf(args.dataDir);
  const host = createLinuxHost({ stateDir: dataDir, cacheDir: `${dataDir}/cache` });
  return { abilities: abilitiesOf(await host.abilities()) };
}
