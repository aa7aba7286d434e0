import * as fs from 'node:fs';
import * as path from 'node:path';
import { connectCsi } from '../csi/client';
import type { Mounts } from '../host/host';
import type { MachineFor } from '../kubelet/machine';
import { FIRST_NODE } from '../kubelet/rehearsal';
import { realTime } from '../kubelet/time-keeper';
import { type Entry, Timeline } from '../kubelet/timeline/timeline';
import { socketPathOf } from '../server/endpoint';
import { systemClock } from '../util/clock';
import { hostMountView } from './host-mount-view';
import {
  cleaner,
  definitions,
  emptyFolder,
  type OpenedRehearsal,
  type OpenOptions,
  rehearsalIn,
} from './opened-rehearsal';
import { temporaryFolder } from './temporary-folder';

export interface SocketOptions extends OpenOptions {
  readonly endpoint: string;
  /** Where the driver's mounts are looked for (default: the machine's own table). */
  readonly machine?: { readonly mounts: Mounts; readonly isModel: boolean };
  readonly onEntry?: (entry: Entry) => void;
}

/** With any driver, on its socket and in real time. */
export async function openOverSocket(options: SocketOptions): Promise<OpenedRehearsal> {
  const socket = socketPathOf(options.endpoint);
  const named = options.rootDir === undefined ? undefined : emptyFolder(options.rootDir);
  const scratch = temporaryFolder('rehearse-');
  const rootDir = named ?? emptyFolder(path.join(scratch, 'kubelet'));
  const { mounts, isModel } = options.machine ?? { mounts: mountsOfMachine(scratch), isModel: false };
  const timeline = new Timeline(systemClock, cleaner(rootDir, []), options.onEntry);
  const machineFor: MachineFor = async (nodeName) => {
    if (nodeName !== FIRST_NODE)
      throw new Error(
        `node ${nodeName}: with --endpoint there is one node, ${FIRST_NODE}: the driver is on one machine`,
      );
    return {
      mounts: hostMountView(() => mounts, isModel),
      connect: () => connectCsi(socket, definitions()),
    };
  };
  const rehearsal = (() => {
    try {
      return rehearsalIn(rootDir, options, { time: realTime(systemClock), timeline, machineFor });
    } catch (error) {
      fs.rmSync(scratch, { recursive: true, force: true });
      throw error;
    }
  })();
  return {
    rehearsal,
    timeline,
    rootDir,
    close: async () => {
      rehearsal.stop();
      // What the driver left mounted is its own, and must not be removed as files.
      const left =
        !isModel && (await mounts.list()).some(({ mountPoint }) => mountPoint.startsWith(`${scratch}/`));
      if (left)
        process.stderr.write(
          `fake-csi: mounts are left below ${scratch}: unmount them, then remove the folder\n`,
        );
      else fs.rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function mountsOfMachine(scratch: string): Mounts {
  const { createLinuxHost } = require('../host/linux') as typeof import('../host/linux');
  return createLinuxHost({ stateDir: scratch, cacheDir: path.join(scratch, 'cache') }).mounts;
}
