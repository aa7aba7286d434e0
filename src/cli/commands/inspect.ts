import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Argv } from 'yargs';
import type { Command } from '../command';
import { EXIT } from '../exit-codes';
import { print, printJson } from '../output';

interface Arguments {
  folder: string;
  pid?: number;
  kubelet: '1.32' | '1.36';
  json: boolean;
}

export const inspect: Command<Arguments> = {
  command: 'inspect <folder>',
  describe: "Read a kubelet's folder: what is there, what does not fit, what the kubelet will do about it",
  builder: (y: Argv) =>
    y
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: "A kubelet's --root-dir, such as /var/lib/kubelet, or that of a rehearsal",
      })
      .options({
        pid: {
          type: 'number',
          describe: 'Process whose mounts count, such as the kubelet; the folder is looked up in its root',
        },
        kubelet: {
          // Or yargs takes it for a number, which is none of them.
          type: 'string',
          choices: ['1.32', '1.36'] as const,
          default: '1.36',
          describe: 'Version whose ways are told',
        },
        json: { type: 'boolean', default: false, describe: 'For programs' },
      })
      .example(
        '$0 inspect /var/lib/kubelet --pid $(pidof kubelet)',
        'Read only; exit code 1: something does not fit',
      ),
  run: async ({ folder, pid, kubelet, json }) => {
    const { inspectFolder } =
      require('../../kubelet/inspect/inspect') as typeof import('../../kubelet/inspect/inspect');
    const { MountTable } =
      require('../../kubelet/inspect/mount-table') as typeof import('../../kubelet/inspect/mount-table');
    const { deviceProblem, mountsOfProcess, rootOf } =
      require('../inspect/process-mounts') as typeof import('../inspect/process-mounts');
    if (pid !== undefined && !(Number.isSafeInteger(pid) && pid > 0))
      throw new Error(`--pid: expected the number of a process, found ${pid}`);
    const mounts = new MountTable(mountsOfProcess(pid), deviceProblem);
    const inspection = inspectFolder({
      root: rootFolder(folder, pid === undefined ? undefined : rootOf(pid)),
      version: kubelet,
      mounts,
      mountsOf: pid === undefined ? 'this process' : `process ${pid}`,
    });
    if (json) printJson(inspection);
    else {
      const { inspectionText } =
        require('../../kubelet/inspect/text') as typeof import('../../kubelet/inspect/text');
      print(inspectionText(inspection));
    }
    return inspection.findings.some(({ severity }) => severity !== 'note') ? EXIT.FAILED : EXIT.OK;
  },
};

/** @throws Error with one line */
function rootFolder(folder: string, processRoot: string | undefined): string {
  // Mount points are real paths. Of another process's root they would be resolved in our own.
  const place =
    processRoot === undefined ? path.resolve(folder) : path.join(processRoot, path.resolve('/', folder));
  try {
    if (!fs.statSync(place).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    fs.accessSync(place, fs.constants.R_OK | fs.constants.X_OK);
    return processRoot === undefined ? fs.realpathSync(place) : place;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${place}: expected a kubelet's folder that can be read, found ${code}`);
  }
}
