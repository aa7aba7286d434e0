import { lstatSync } from 'node:fs';
import * as path from 'node:path';
import { namesIn } from '../util/files';
import { isListening } from '../util/listening';
import { askText } from './connection';
import { ControlError } from './error';

export const CONTROL_SOCKET = 'control.sock';
const PROBE_MS = 1_000;

/** Name of a process's own socket, for when another one has `control.sock`. */
export function socketNameOf(process: string): string {
  return `control-${process}.sock`;
}

/** Sockets that lie in a control folder, `control.sock` first. Not all of them need have a listener. */
export function controlSockets(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => name === CONTROL_SOCKET || /^control-.*\.sock$/.test(name))
    .sort((a, b) => Number(b === CONTROL_SOCKET) - Number(a === CONTROL_SOCKET) || (a < b ? -1 : 1))
    .map((name) => path.join(folder, name))
    .filter((file) => lstatSync(file, { throwIfNoEntry: false })?.isSocket() === true);
}

/**
 * The socket to talk to for a data folder: `control/control.sock`, or that of any other process that lives. A process
 * that a rule has stopped (SIGSTOP) accepts connections and answers none, so that each is asked.
 * @throws ControlError that says what to start
 */
export async function findControlSocket(dataDir: string): Promise<string> {
  const folder = path.join(path.resolve(dataDir), 'control');
  const there = controlSockets(folder);
  for (const file of there) if (await isAnswering(file)) return file;
  // Busy or stopped; whoever asks it is told so.
  for (const file of there) if (await isListening(file)) return file;
  const found =
    there.length === 0
      ? `there is no control socket in ${folder}`
      : `nobody listens on ${there.join(' or ')} any more`;
  throw new ControlError(
    'unreachable',
    0,
    `${found}; start \`fake-csi serve --data-dir ${dataDir}\`, or name the data folder of the driver that runs`,
  );
}

async function isAnswering(socket: string): Promise<boolean> {
  try {
    await askText({ socket }, { method: 'GET', path: '/v1/status', timeoutMs: PROBE_MS });
    return true;
  } catch (error) {
    if (error instanceof ControlError) return error.code !== 'unreachable';
    throw error;
  }
}
