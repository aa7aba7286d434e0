import * as net from 'node:net';
import { errnoOf } from './files';

const PATIENCE_MS = 2_000;

/** Whether somebody listens on a Unix socket. One whose backlog is full does not answer, and lives all the same. */
export function isListening(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(file);
    const done = (alive: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(alive);
    };
    const timer = setTimeout(() => done(true), PATIENCE_MS);
    socket.once('connect', () => done(true));
    socket.once('error', (error) => done(!['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error) ?? '')));
  });
}
