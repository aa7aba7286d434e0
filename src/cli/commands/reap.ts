import { existsSync } from 'node:fs';
import type { Argv } from 'yargs';
import { type Command, UsageError } from '../command';
import { dataDirOf } from '../data-dir';
import { EXIT } from '../exit-codes';
import { print, printJson } from '../output';
import type { Report } from '../reap/report';

interface Arguments {
  dataDir: string[];
  kubeletDir?: string;
  driverName: string;
  dryRun?: boolean;
  yes: boolean;
  deleteData: boolean;
  json: boolean;
}

const KUBELET_DIR = '/var/lib/kubelet';

export const reap: Command<Arguments> = {
  command: 'reap',
  describe: 'Clean up after drivers that are gone: frozen filesystems, mounts, loop devices, sockets',
  builder: (y: Argv) =>
    y
      .options({
        'data-dir': {
          type: 'string',
          array: true,
          default: [],
          describe: 'Data folder of a driver that is gone; may be given several times [as for serve]',
        },
        'kubelet-dir': {
          type: 'string',
          describe: `Whose plugins_registry is looked at for sockets [${KUBELET_DIR}, if it is there]`,
        },
        'driver-name': {
          type: 'string',
          default: 'fake.csi.test',
          describe: 'Whose sockets are looked for there',
        },
        'dry-run': { type: 'boolean', describe: 'Say what there is, and do nothing; so it is without --yes' },
        yes: { type: 'boolean', default: false, describe: 'Do it' },
        'delete-data': {
          type: 'boolean',
          default: false,
          describe: 'Remove volumes and snapshots with their bytes too',
        },
        json: { type: 'boolean', default: false, describe: 'For programs' },
      })
      .example('$0 reap --data-dir /var/lib/fake-csi', 'what a deleted cluster left; exit code 1: something')
      .example('$0 reap --data-dir /var/lib/fake-csi --yes --delete-data', 'and nothing is left'),
  run: async (args) => {
    if (args.yes && args.dryRun) throw new UsageError('--yes, --dry-run: expected one of them, found both');
    if (process.geteuid?.() !== 0)
      throw new Error(
        `reap: expected root, which mounts and loop devices belong to; found user ${process.geteuid?.()}; run it with sudo`,
      );
    const report = await work(args);
    const { isClean, reportText } = require('../reap/report') as typeof import('../reap/report');
    if (args.json) printJson(report);
    else print(reportText(report));
    return isClean(report) ? EXIT.OK : EXIT.FAILED;
  },
};

async function work({ dataDir, kubeletDir, driverName, yes, deleteData }: Arguments): Promise<Report> {
  const { createLinuxHost } = require('../../host/linux') as typeof import('../../host/linux');
  const { readDataFolder, takeOwnership } =
    require('../reap/data-folder') as typeof import('../reap/data-folder');
  const { attempt, plan, reap: take } = require('../reap/reap') as typeof import('../reap/reap');
  const { staleRegistration } = require('../reap/sockets') as typeof import('../reap/sockets');
  const { systemClock } = require('../../util/clock') as typeof import('../../util/clock');
  const { rm } = require('node:fs/promises') as typeof import('node:fs/promises');
  const report: Report = { dryRun: !yes, steps: [], refused: [] };
  const given = dataDir.length > 0 ? dataDir : [undefined];
  for (const folder of new Set(given.map((one) => dataDirOf(one)))) {
    try {
      const found = readDataFolder(folder);
      const host = createLinuxHost({ stateDir: found.root, cacheDir: `${found.root}/cache` });
      const letGo = await takeOwnership(host, found);
      try {
        const options = { host, clock: systemClock, deleteData };
        report.steps.push(...(await (yes ? take : plan)(options, found)));
      } finally {
        await letGo();
      }
    } catch (error) {
      report.refused.push({ dataDir: folder, why: (error as Error).message });
    }
  }
  const kubelet = kubeletDir ?? (existsSync(KUBELET_DIR) ? KUBELET_DIR : undefined);
  for (const file of kubelet === undefined ? [] : await staleRegistration(kubelet, driverName))
    report.steps.push(
      yes ? await attempt('remove', file, () => rm(file)) : { action: 'remove', what: file, done: false },
    );
  return report;
}
