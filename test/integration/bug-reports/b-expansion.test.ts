import * as fs from 'node:fs';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, readMark, writeMark } from '../../support/kinds';
import { dispose, MIB, publish, stage, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

it.each(ALL_KINDS)(
  'BL-069: a $name volume whose expansion ended after its bytes grew is grown by the repeat, also after a restart',
  async (kind) => {
    const faults = new TestGate();
    const first = await machine.start({ faults });
    const used = await use(first, kind.options());
    await writeMark(kind, used, 'before');
    await first.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await first.csi.NodeUnstageVolume({ volume_id: used.id, staging_target_path: used.staging });
    // A btrfs in use grows to 256 MiB or more only.
    const bytes = kind.size + 256 * MIB;
    const request = { volume_id: used.id, capacity_range: { required_bytes: bytes } };
    faults.failOnce('ControllerExpandVolume', 'bytesGrown');
    await expect(first.csi.ControllerExpandVolume(request)).rejects.toThrow('injected at bytesGrown');
    // The record tells no size yet that was not promised.
    const { volume } = await first.csi.ControllerGetVolume({ volume_id: used.id });
    expect(volume?.capacity_bytes).toBe(`${kind.size}`);
    await first.stop();

    const second = await machine.start({ dataDir: first.dataDir });
    for (let time = 0; time < 2; time++)
      expect((await second.csi.ControllerExpandVolume(request)).capacity_bytes).toBe(`${bytes}`);
    const again = await stage(second, used.id, { capability: used.capability });
    await publish(second, again);
    await second.csi.NodeExpandVolume({
      volume_id: used.id,
      volume_path: again.target,
      staging_target_path: again.staging,
      capacity_range: { required_bytes: bytes },
      volume_capability: again.capability,
    });
    const [loop] = machine.loops(second.dataDir);
    expect(loop !== undefined).toBe(kind.loop);
    if (loop) expect(Number(fs.readFileSync(`/sys/block/loop${loop.index}/size`, 'utf8')) * 512).toBe(bytes);
    expect(await readMark(kind, again)).toBe('before');
    await dispose(second, again);
    await second.stop();
  },
);
