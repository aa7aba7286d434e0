import { type CsiClient, connectCsi } from '../csi/client';
import type { CsiDefinitions } from '../csi/load';
import { methods } from '../csi/rpcs';

/**
 * A client that stays the same object while drivers come and go behind it: each life gets a connection of its own, since
 * a connection that failed waits longer and longer before it tries again.
 */
export class StableClient {
  private current: CsiClient | undefined;

  constructor(
    private readonly socket: string,
    private readonly definitions: CsiDefinitions,
  ) {}

  readonly csi: CsiClient = Object.assign(
    Object.fromEntries(
      methods.map((method) => [
        method,
        (...args: unknown[]) => (this.connection()[method] as (...args: unknown[]) => unknown)(...args),
      ]),
    ),
    { close: () => this.renew() },
  ) as CsiClient;

  private connection(): CsiClient {
    this.current ??= connectCsi(this.socket, this.definitions);
    return this.current;
  }

  /** The next call connects anew. */
  renew(): void {
    this.current?.close();
    this.current = undefined;
  }
}
