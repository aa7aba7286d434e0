import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { run } from './run';

/** A process with a mount namespace of its own: what was mounted when it began stays mounted in it. */
export class OtherNamespace {
  private constructor(private readonly child: ChildProcess) {}

  /**
   * `private`: as a pod without propagation. `unchanged`: as the kubelet beside a plugin's container, what is mounted below a
   * shared mount on one side shows on the other.
   */
  static async start(propagation: 'private' | 'unchanged' = 'private'): Promise<OtherNamespace> {
    const words = ['-m', '--propagation', propagation, 'sh', '-c', 'echo ready; exec sleep infinity'];
    const child = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    return new OtherNamespace(child);
  }

  /** Runs a program in it; a failure shows what it printed. */
  run(program: string, ...args: string[]): string {
    return run('nsenter', '-t', `${this.child.pid}`, '-m', program, ...args);
  }

  /** Resolves when it is gone, and with it its mounts. */
  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
