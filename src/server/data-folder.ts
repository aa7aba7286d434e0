import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { ensureFolder, errnoOf } from '../util/files';
import { keyOf } from '../util/keys';
import type { Layout } from '../volumes/layout';
import type { DriverOptions } from './driver-options';

/** @throws Error with one line that a person who started the driver can act on. */
export async function prepareDataFolder(folder: string): Promise<void> {
  try {
    ensureFolder(folder);
    await fs.access(folder, fs.constants.W_OK);
  } catch (error) {
    throw new Error(
      `--data-dir ${folder}: it cannot be made or written (${errnoOf(error)}); choose a folder on a writable disk`,
    );
  }
}

/**
 * One controller, and one process a node, may work on a data folder: each believes what it has in memory.
 * @throws Error with one line when another process is there already.
 */
export async function takeFolder(options: DriverOptions, layout: Layout): Promise<() => Promise<void>> {
  const parts = [];
  if (options.profile !== 'node')
    parts.push({ who: 'a controller', file: path.join(layout.locks, 'controller.lock') });
  if (options.profile !== 'controller')
    parts.push({
      who: `node ${options.nodeId}`,
      file: path.join(layout.locks, `node-${keyOf(options.nodeId)}.lock`),
    });
  ensureFolder(layout.locks);
  const taken: (() => Promise<void>)[] = [];
  const release = async () => {
    for (const unlock of taken) await unlock();
  };
  for (const { who, file } of parts) {
    try {
      taken.push(await options.host.lockFile(file));
    } catch (error) {
      await release();
      if (errnoOf(error) !== 'EAGAIN') throw error;
      throw new Error(
        `--data-dir ${layout.root}: another process serves ${who} on it; stop that, or choose another --data-dir or --node-id`,
      );
    }
  }
  return release;
}
