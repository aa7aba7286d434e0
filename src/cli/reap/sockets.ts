import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { findPlace } from '../../server/registration/place';
import { isListening } from '../../util/listening';

/** Sockets of a driver of that name below a kubelet's folder that nobody listens on. */
export async function staleRegistration(kubeletDir: string, driverName: string): Promise<string[]> {
  const { kubeletDir: real, socket, second } = await findPlace(kubeletDir, driverName, false);
  const registry = [socket, second].flatMap(({ file, fresh, dead }) => [
    file,
    path.join(path.dirname(file), fresh),
    path.join(path.dirname(file), dead),
  ]);
  return stale([...registry, path.join(real, 'plugins', driverName, 'csi.sock')]);
}

export async function stale(files: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const file of files) {
    const stat = await fs.lstat(file).catch(() => undefined);
    if (stat?.isSocket() && !(await isListening(file))) found.push(file);
  }
  return found;
}
