import * as fs from 'node:fs/promises';
import type { NodeFacts } from '../scenarios/engine/facts';
import type { Env } from '../services/env';

/** A reading is good for so long. */
const FRESH_MS = 1_000;

/** What expressions may ask of the node. Readings are taken beside the calls that ask, never on their way. */
export class NodeGauge {
  private reading: { at: number; fsFreePct: number } | undefined;
  private taking = false;

  constructor(private readonly env: Env) {}

  /** The last reading; the first one ever asked for may not be there yet. */
  facts(): NodeFacts {
    const { clock, node } = this.env;
    if (!this.reading || clock.monotonic() - this.reading.at > FRESH_MS) void this.take();
    return { id: node?.record.id ?? '', fsFreePct: this.reading?.fsFreePct };
  }

  async take(): Promise<void> {
    if (this.taking) return;
    this.taking = true;
    try {
      const { bavail, blocks } = await fs.statfs(this.env.layout.root);
      const fsFreePct = blocks === 0 ? 100 : (100 * bavail) / blocks;
      this.reading = { at: this.env.clock.monotonic(), fsFreePct };
    } catch {
      // An unreadable data folder shows in every call; here it only means that nothing is known.
      this.reading = undefined;
    } finally {
      this.taking = false;
    }
  }
}
