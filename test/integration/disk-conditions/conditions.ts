import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code, CsiError } from '../../../src/csi/status';
import type { DiskCondition } from '../../../src/scenarios/model';
import { ConditionGate } from '../../support/condition-gate';
import type { TestDriver } from '../../support/driver';
import { type Kind, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  mountCapability,
  publish,
  stage,
  type UsedVolume,
} from '../../support/lifecycle';
import type { RealMachine } from '../../support/machine';

/** A driver whose disks meet conditions, and the questions that each test asks of it. */
export class Conditions {
  private names = 0;

  private constructor(
    private readonly machine: RealMachine,
    readonly driver: TestDriver,
    readonly gate: ConditionGate,
  ) {}

  static async start(machine: RealMachine): Promise<Conditions> {
    const gate = new ConditionGate();
    return new Conditions(machine, await machine.start({ faults: gate }), gate);
  }

  /** A volume that was used before, and holds a mark. */
  async used(kind: Kind): Promise<string> {
    const options = kind.options();
    const id = await this.fresh(kind);
    const used = await stage(this.driver, id, options);
    await publish(this.driver, used);
    await writeMark(kind, used, 'kept');
    await this.end(used);
    return id;
  }

  /** A volume that was never staged. */
  fresh(kind: Kind): Promise<string> {
    return createVolume(this.driver, { ...kind.options(), name: `volume-of-conditions-${this.names++}` });
  }

  /** A stage while the condition holds. @returns how it failed, or the volume in use */
  async stageWith(
    condition: DiskCondition | undefined,
    id: string,
    kind: Kind,
    { readOnly = false, mountFlags = [] as string[] } = {},
  ): Promise<CsiError | UsedVolume> {
    const { capability, ...options } = kind.options();
    const fsType = capability?.mount?.fs_type ?? '';
    const mode = readOnly ? ('SINGLE_NODE_READER_ONLY' as const) : ('SINGLE_NODE_WRITER' as const);
    const asked = kind.block ? kind.options(mode).capability : mountCapability({ fsType, mode, mountFlags });
    this.gate.condition = condition;
    this.gate.effects.length = 0;
    try {
      return await stage(this.driver, id, { ...options, ...(asked && { capability: asked }) });
    } catch (error) {
      if (!(error instanceof CsiError)) throw error;
      await this.driver.csi.ControllerUnpublishVolume({ volume_id: id });
      return error;
    } finally {
      this.gate.condition = undefined;
    }
  }

  /** Stages, and expects the kernel's refusal in these words, and nothing left of it. */
  async refused(
    condition: DiskCondition,
    id: string,
    kind: Kind,
    words: string | RegExp,
    options: { readOnly?: boolean } = {},
  ): Promise<void> {
    const outcome = await this.stageWith(condition, id, kind, options);
    expect(outcome).toMatchObject({
      code: Code.INTERNAL,
      message: typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
    });
    await this.nothingLeft();
  }

  async nothingLeft(): Promise<void> {
    expect(this.machine.loops(this.driver.dataDir)).toEqual([]);
    // A tmpfs volume keeps its mount until it is deleted: its data is there and nowhere else.
    const below = (await this.machine.host.mounts.list()).filter(
      ({ mountPoint, fsType }) => mountPoint.startsWith(`${this.driver.dir}/`) && fsType !== 'tmpfs',
    );
    expect(below).toEqual([]);
    expect(await fs.readdir(this.undoFolder)).toEqual([]);
  }

  get undoFolder(): string {
    return path.join(this.driver.dataDir, 'nodes/node-1/undo');
  }

  /** The next stage, without a condition: what the volume holds. Afterwards it is neither staged nor attached. */
  async markOf(id: string, kind: Kind): Promise<string | undefined> {
    const used = await stage(this.driver, id, kind.options());
    await publish(this.driver, used);
    try {
      return await readMark(kind, used);
    } finally {
      await this.end(used);
    }
  }

  async end({ id, target, staging }: UsedVolume): Promise<void> {
    const { csi } = this.driver;
    await csi.NodeUnpublishVolume({ volume_id: id, target_path: target });
    await csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
    await csi.ControllerUnpublishVolume({ volume_id: id });
  }

  async delete(id: string): Promise<void> {
    await this.driver.csi.DeleteVolume({ volume_id: id });
    await this.nothingLeft();
  }

  dispose(used: UsedVolume): Promise<void> {
    return dispose(this.driver, used);
  }
}

/** What mount(8) says of a superblock that the filesystem does not know. */
export const WRONG_FS =
  /wrong fs type, bad option, bad superblock on \/dev\/loop\d+, missing codepage or helper program, or other error\./;
