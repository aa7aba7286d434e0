import { statSync } from 'node:fs';
import * as path from 'node:path';
import { failedPrecondition } from '../csi/status';
import { namesIn, readIfThere, writeFileAtomic } from '../util/files';
import type { Layout } from './layout';
import { readRecord, UnreadableRecord } from './record-file';
import type { NodeRecord, Segments } from './records';

/** More than the tick of any filesystem that a data folder may be on. */
const COARSE_NS = 3_000_000_000n;

/**
 * The nodes that share this data folder. Each node process writes its own file; the controller reads them: that is how
 * it knows which node ids exist and what they can reach, with no server in between.
 */
export class NodeRegistry {
  private listed: readonly string[] = [];
  private listedAt: bigint | undefined;

  constructor(
    private readonly layout: Layout,
    /** This process's own node, when it serves one. */
    private readonly self: NodeRecord | undefined,
    /** Topologies the controller was told of beside those of its nodes. */
    private readonly extraTopologies: readonly Segments[],
  ) {}

  /** Nothing is written where the file says so already: a driver must start on a full disk too, to take volumes down. */
  async announce(): Promise<void> {
    if (!this.self) return;
    const { record } = this.layout.node(this.self.id);
    const text = `${JSON.stringify(this.self, undefined, 1)}\n`;
    if (readIfThere(record) !== text) await writeFileAtomic(record, text, 'durable');
  }

  find(nodeId: string): NodeRecord | undefined {
    if (this.self?.id === nodeId) return this.self;
    const record = readRecord<NodeRecord>(this.layout.node(nodeId).record, ['id', 'topology', 'maxVolumes']);
    return record?.id === nodeId ? record : undefined;
  }

  /** The nodes beside this process's own: few, so they are read anew each time, as they may have restarted. */
  others(): NodeRecord[] {
    const nodes: NodeRecord[] = [];
    for (const name of this.otherFolders()) {
      try {
        const record = readRecord<NodeRecord>(`${this.layout.nodes}/${name}/node.json`, ['id', 'topology']);
        if (record) nodes.push(record);
      } catch (error) {
        if (!(error instanceof UnreadableRecord)) throw error;
      }
    }
    return nodes;
  }

  /**
   * Their folders. A new one changes the time of the folder they are in, so mostly one look at that is enough: but not
   * while that time is so young that the next change may get the same one.
   */
  private otherFolders(): readonly string[] {
    const changed = statSync(this.layout.nodes, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    if (changed === undefined) return [];
    if (changed !== this.listedAt) {
      const own = this.self && path.basename(this.layout.node(this.self.id).folder);
      this.listed = namesIn(this.layout.nodes).filter((name) => name !== own);
      const age = BigInt(Date.now()) * 1_000_000n - changed;
      this.listedAt = age > COARSE_NS ? changed : undefined;
    }
    return this.listed;
  }

  /** Every topology a volume could be placed in. */
  topologies(): Segments[] {
    const nodes = this.self ? [this.self, ...this.others()] : this.others();
    return [...nodes.map((node) => node.topology), ...this.extraTopologies];
  }
}

/** Whether a place with `segments` satisfies `wanted`: every wanted segment is there, keys compared without case. */
export function satisfies(segments: Segments, wanted: Segments): boolean {
  const have = new Map(Object.entries(segments).map(([key, value]) => [key.toLowerCase(), value]));
  return Object.entries(wanted).every(([key, value]) => have.get(key.toLowerCase()) === value);
}

/** @throws CsiError FAILED_PRECONDITION when a volume cannot be reached from a node. */
export function checkReachable(volumeId: string, topology: readonly Segments[], node: NodeRecord): void {
  if (topology.length === 0 || topology.some((wanted) => satisfies(node.topology, wanted))) return;
  throw failedPrecondition(
    `volume ${volumeId} is reachable from ${JSON.stringify(topology)} only; node ${node.id} is in ${JSON.stringify(node.topology)}`,
  );
}
