import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { ensureFolder, errnoOf } from '../../util/files';
import { checkSocketLength } from '../endpoint';
import { makeWay, type SocketWords } from '../socket';

/** Where the kubelet looks for plugins (pkg/kubelet/config/defaults.go). */
const REGISTRY = 'plugins_registry';

/** The files of one driver's registration, all in the folder that the kubelet watches. */
export interface RegistrationPlace {
  /** As it was given. */
  readonly given: string;
  /** The same without symbolic links. */
  readonly kubeletDir: string;
  readonly socket: SocketPlace;
  /** A second one with the same driver's name, for rules. */
  readonly second: SocketPlace;
}

export interface SocketPlace {
  readonly file: string;
  /** The name that it is bound under: the kubelet does not look at names that begin with a dot. */
  readonly fresh: string;
  /** The same of one that is to have no listener. */
  readonly dead: string;
  readonly words: SocketWords;
}

/**
 * @param toWrite sockets are to be made there, not only looked for.
 * @throws Error with one line when the folder is not there, is no folder or cannot be written, or when the socket's path
 * would be too long.
 */
export async function findPlace(
  given: string,
  driverName: string,
  toWrite = true,
): Promise<RegistrationPlace> {
  const kubeletDir = await realFolder(given);
  const folder = path.join(kubeletDir, REGISTRY);
  const place = (name: string, fresh: string): SocketPlace => {
    const file = path.join(folder, name);
    return {
      file,
      fresh,
      dead: `${fresh}.d`,
      words: { subject: `--register ${file}`, remedy: 'choose another --driver-name' },
    };
  };
  // None is longer than the name it is renamed to.
  const socket = place(`${driverName}-reg.sock`, `.${driverName}-reg`);
  const second = place(`${driverName}-reg2.sock`, `.${driverName}-reg2`);
  if (toWrite) {
    checkSocketLength(socket.file, `--kubelet-dir ${given}: the registration socket ${socket.file}`);
    await checkWritable(folder, given);
  }
  return { given, kubeletDir, socket, second };
}

async function realFolder(given: string): Promise<string> {
  const wrong = (what: string) =>
    new Error(
      `--kubelet-dir ${given}: expected the folder of a kubelet on this node (its --root-dir), ${what}; in a container, mount it at the same path as on the host`,
    );
  let real: string;
  try {
    real = await fs.realpath(given);
  } catch (error) {
    throw wrong(errnoOf(error) === 'ENOENT' ? 'which is not there' : `found ${errnoOf(error)}`);
  }
  if (!(await fs.stat(real)).isDirectory()) throw wrong('found something that is no folder');
  return real;
}

/** The kubelet makes the folder when it starts, and so does a hostPath of the type DirectoryOrCreate. */
async function checkWritable(folder: string, given: string): Promise<void> {
  try {
    ensureFolder(folder);
    await fs.access(folder, fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    throw new Error(
      `--kubelet-dir ${given}: no socket can be made in ${folder} (${errnoOf(error)}); run as root, with that folder mounted read-write`,
    );
  }
}

/**
 * Removes what a killed process of this driver left: the kubelet would dial a dead socket for ten seconds each time it
 * looks, and back off from its path (node-driver-registrar#206). To be done before anything that takes time.
 * @returns the files it removed. @throws Error with one line when somebody listens there.
 */
export async function clearPlace({ socket, second }: RegistrationPlace): Promise<string[]> {
  const removed: string[] = [];
  for (const { file, fresh, dead, words } of [socket, second])
    for (const name of [file, path.join(path.dirname(file), fresh), path.join(path.dirname(file), dead)]) {
      if (!(await makeWay(name, words))) continue;
      await fs.rm(name, { force: true });
      removed.push(name);
    }
  return removed;
}
