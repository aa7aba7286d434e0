import { HostError, type Look } from '../../host/host';
import type { Call, Env } from '../env';

/** Errnos with which a mount says that what is behind it is gone (the ones the kubelet calls a corrupted mount). */
const DEAD = new Set([
  'ENOTCONN',
  'ESTALE',
  'EIO',
  'EACCES',
  'EHOSTDOWN',
  'EWOULDBLOCK',
  'EREMOTEIO',
  'ETIMEDOUT',
  'ENODEV',
]);

export const isDead = (error: unknown) => error instanceof HostError && DEAD.has(error.errno);

/** Dead mounts lie on each other when a tool mounted anew without looking. More than these are somebody's loop. */
const MOST = 16;

/**
 * Looks at a path; dead mounts there are removed first. What they hid comes to light, and may be the volume, alive: only a
 * look tells what has to be mounted.
 */
export async function lookThroughDead(env: Env, path: string, call: Call): Promise<Look> {
  for (let removed = 0; ; removed++) {
    try {
      return await env.host.mounts.look(path);
    } catch (error) {
      if (!isDead(error) || removed === MOST) throw error;
      // It cannot even be looked at, so it can only be let go of; a lazy unmount waits for nothing.
      await env.host.mounts.unmount(path, { lazy: true });
      call.effect(`removed a dead mount from ${path}`);
    }
  }
}
