import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process with a mount namespace of its own, as a pod is: what was mounted when it began stays mounted in it. */
export class OtherNamespace {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<OtherNamespace> {
    const words = ['-m', '--propagation', 'private', 'sh', '-c', 'echo ready; exec sleep infinity'];
    const child = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return new OtherNamespace(child);
  }

  /** Resolves when it is gone, and with it its mounts. */
  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
