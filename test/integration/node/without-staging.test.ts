import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, publish, type UsedVolume } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const gate = new TestGate();
afterEach(() => gate.clear());

describe('without STAGE_UNSTAGE_VOLUME', () => {
  let own: TestDriver;
  beforeAll(async () => {
    own = await machine.start({ capabilities: '-STAGE_UNSTAGE_VOLUME', faults: gate });
  });

  async function attached(options: ReturnType<Kind['options']>): Promise<UsedVolume> {
    const id = await createVolume(own, options);
    const { node_id } = await own.csi.NodeGetInfo();
    const { publish_context: publishContext } = await own.csi.ControllerPublishVolume({
      volume_id: id,
      node_id,
      volume_capability: options.capability ?? null,
    });
    const { capability = {} } = options;
    return { id, staging: '', target: await own.target(id), publishContext, capability };
  }

  it.each(ALL_KINDS)('a $name volume is staged and unstaged by its publishes', async (kind) => {
    const options = kind.options('SINGLE_NODE_MULTI_WRITER');
    const used = await attached(options);
    const { id } = used;
    const second = { ...used, target: await own.target(`${id}-second`) };
    for (let round = 0; round < 3; round++) await publish(own, used);
    await publish(own, second);
    expect(await machine.mountsAt(used.target)).toHaveLength(1);
    await writeMark(kind, used, 'in both');
    expect(await readMark(kind, second)).toBe('in both');
    await own.csi.NodeExpandVolume({ volume_id: id, volume_path: used.target });
    await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    expect(await readMark(kind, second)).toBe('in both');
    for (let round = 0; round < 2; round++)
      await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: second.target });
    expect(machine.loops(own.dataDir)).toEqual([]);
    expect(await fs.readdir(path.join(own.dataDir, 'nodes/node-1/stages'))).toEqual([]);
    await publish(own, used);
    expect(await readMark(kind, used)).toBe('in both');
    await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await own.csi.ControllerUnpublishVolume({ volume_id: id });
    await own.csi.DeleteVolume({ volume_id: id });
  });

  it('a publish that fails leaves no stage behind', async () => {
    const options = KINDS.ext4.options();
    const used = await attached(options);
    const { id } = used;
    for (const point of ['attached', 'mounted', 'staged', 'beforeMount']) {
      gate.failOnce('NodePublishVolume', point);
      await expect(publish(own, used)).rejects.toMatchObject({ message: `injected at ${point}` });
      expect(machine.loops(own.dataDir)).toEqual([]);
      expect(await fs.readdir(path.join(own.dataDir, 'nodes/node-1/mounts'))).toEqual([]);
    }
    await publish(own, used);
    await own.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await own.csi.ControllerUnpublishVolume({ volume_id: id });
    await own.csi.DeleteVolume({ volume_id: id });
  });
});
