import * as fs from 'node:fs/promises';
import type { Staged } from '../backends/backend';
import { errnoOf, namesIn, readText, removeFile, writeFileAtomic } from '../util/files';
import { keyOf } from '../util/keys';
import type { Log } from '../util/log';
import type { NodePaths } from './layout';
import { parseRecord } from './record-file';
import type { PublicationRecord, StageRecord } from './records';

export interface NodeStoreOptions {
  paths: NodePaths;
  bootId: string;
  log: Log;
}

/**
 * What this node has staged and published. The files describe mounts of this boot only, so they are atomic but not
 * fsynced: after a power loss neither they nor what they describe is needed.
 */
export class NodeStore {
  private readonly stagesByVolume = new Map<string, StageRecord>();
  private readonly volumesByStagingPath = new Map<string, string>();
  private readonly stagedByVolume = new Map<string, Staged>();
  private readonly heldLoops = new Map<string, number>();
  private readonly publicationsByTarget = new Map<string, PublicationRecord>();
  private readonly targetsByVolume = new Map<string, Set<string>>();

  constructor(private readonly options: NodeStoreOptions) {}

  get bootId(): string {
    return this.options.bootId;
  }

  get paths(): NodePaths {
    return this.options.paths;
  }

  /** Reads what an earlier process of this node left. Records of another boot, or broken ones, are dropped: the kernel knows better. */
  async load(): Promise<void> {
    const { paths } = this.options;
    for (const folder of [paths.stages, paths.publications, paths.undo, paths.mounts])
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await this.loadFolder<StageRecord>(paths.stages, ['volumeId', 'stagingPath', 'capability'], (r) =>
      this.keepStage(r),
    );
    await this.loadFolder<PublicationRecord>(
      paths.publications,
      ['volumeId', 'targetPath', 'capability'],
      (r) => this.rememberPublication(r),
    );
  }

  stage(volumeId: string): StageRecord | undefined {
    return this.stagesByVolume.get(volumeId);
  }

  /** Whose stage a path is. */
  stageAt(stagingPath: string): StageRecord | undefined {
    const volumeId = this.volumesByStagingPath.get(stagingPath);
    return volumeId === undefined ? undefined : this.stagesByVolume.get(volumeId);
  }

  stages(): Iterable<StageRecord> {
    return this.stagesByVolume.values();
  }

  async putStage(record: StageRecord): Promise<void> {
    await this.write(this.options.paths.stages, record.volumeId, record);
    this.keepStage(record);
  }

  private keepStage(record: StageRecord): void {
    this.stagesByVolume.set(record.volumeId, record);
    this.volumesByStagingPath.set(record.stagingPath, record.volumeId);
  }

  /** Keeps in memory what the kernel can tell again after a restart. */
  rememberStage(record: StageRecord, staged: Staged): void {
    this.keepStage(record);
    this.stagedByVolume.set(record.volumeId, staged);
    this.heldLoops.delete(keyOf(record.volumeId));
  }

  /** What the kernel had for a volume when it was staged or last inspected by this process. */
  lastSeen(volumeId: string): Staged | undefined {
    return this.stagedByVolume.get(volumeId);
  }

  see(volumeId: string, staged: Staged): void {
    this.stagedByVolume.set(volumeId, staged);
  }

  removeStage(volumeId: string): void {
    this.remove(this.options.paths.stages, volumeId);
    const path = this.stagesByVolume.get(volumeId)?.stagingPath ?? '';
    if (this.volumesByStagingPath.get(path) === volumeId) this.volumesByStagingPath.delete(path);
    this.stagesByVolume.delete(volumeId);
    this.stagedByVolume.delete(volumeId);
    this.heldLoops.delete(keyOf(volumeId));
  }

  /**
   * A loop device over the volume's disk that is still in use though nothing of ours is: a pod outlived the unstage, or a
   * mount its record. Not on disk, as the kernel can tell it at the next start.
   */
  heldLoop(volumeId: string): number | undefined {
    return this.heldLoops.get(keyOf(volumeId));
  }

  holdLoop(volumeId: string, index: number): void {
    this.holdLoopOf(keyOf(volumeId), index);
  }

  /** The same, by the name of the volume's folder: of a disk found at start that may be all that is known. */
  holdLoopOf(volumeKey: string, index: number): void {
    this.heldLoops.set(volumeKey, index);
  }

  publication(targetPath: string): PublicationRecord | undefined {
    return this.publicationsByTarget.get(targetPath);
  }

  publications(): Iterable<PublicationRecord> {
    return this.publicationsByTarget.values();
  }

  publicationsOf(volumeId: string): PublicationRecord[] {
    const targets = this.targetsByVolume.get(volumeId) ?? [];
    return [...targets].map((target) => this.publicationsByTarget.get(target)).filter((r) => r !== undefined);
  }

  async putPublication(record: PublicationRecord): Promise<void> {
    await this.write(this.options.paths.publications, record.targetPath, record);
    this.rememberPublication(record);
  }

  removePublication(targetPath: string): void {
    this.remove(this.options.paths.publications, targetPath);
    const record = this.publicationsByTarget.get(targetPath);
    this.publicationsByTarget.delete(targetPath);
    if (!record) return;
    const targets = this.targetsByVolume.get(record.volumeId);
    targets?.delete(targetPath);
    if (targets?.size === 0) this.targetsByVolume.delete(record.volumeId);
  }

  private rememberPublication(record: PublicationRecord): void {
    this.publicationsByTarget.set(record.targetPath, record);
    const targets = this.targetsByVolume.get(record.volumeId);
    if (targets) targets.add(record.targetPath);
    else this.targetsByVolume.set(record.volumeId, new Set([record.targetPath]));
  }

  /** What is unmounted is unmounted: a record that cannot be removed (a read-only disk) is dropped at the next start. */
  private remove(folder: string, id: string): void {
    const file = `${folder}/${keyOf(id)}.json`;
    try {
      removeFile(file);
    } catch (error) {
      this.options.log.warn({ file, error: String(error) }, 'a record could not be removed');
    }
  }

  private async write(folder: string, id: string, record: object): Promise<void> {
    const file = `${folder}/${keyOf(id)}.json`;
    const text = `${JSON.stringify(record)}\n`;
    try {
      await writeFileAtomic(file, text, 'process');
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      // Somebody's cleaner took the folder away while we run; a missing folder is no reason to fail for ever.
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, text, 'process');
    }
  }

  private async loadFolder<T extends { version: number; bootId: string }>(
    folder: string,
    required: readonly (keyof T & string)[],
    keep: (record: T) => void,
  ): Promise<void> {
    for (const name of namesIn(folder)) {
      const file = `${folder}/${name}`;
      if (!name.endsWith('.json')) {
        await fs.rm(file, { force: true });
        continue;
      }
      try {
        const record = parseRecord<T>(file, readText(file), required);
        if (record.bootId === this.options.bootId) keep(record);
        else await fs.rm(file, { force: true });
      } catch (error) {
        this.options.log.warn({ file }, `${error instanceof Error ? error.message : error}; it is set aside`);
        await fs.rename(file, `${file}.broken`).catch(() => undefined);
      }
    }
  }
}
