import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { KINDS, writeMark } from '../../support/kinds';
import { dispose, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { restored, Writer } from './snapshots-support';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe('a group snapshot', () => {
  /** `counter` first goes to A, then to B: at no instant is B ahead of A. */
  const COUNT =
    'echo go; for ((n = 1; ; n++)); do printf "%d\\n" $n > "$1/new"; mv "$1/new" "$1/count"; sync -f "$1"; ' +
    'printf "%d\\n" $n > "$2/new"; mv "$2/new" "$2/count"; sync -f "$2"; done';

  it.each([
    { kindA: KINDS.ext4, kindB: KINDS.ext4 },
    { kindA: KINDS.ext4, kindB: KINDS.xfs },
    { kindA: KINDS.btrfs, kindB: KINDS.xfs },
  ])(
    'of $kindA.name and $kindB.name cuts both at one instant while they are written',
    async ({ kindA, kindB }) => {
      const [a, b] = [await use(driver, kindA.options()), await use(driver, kindB.options())];
      const writer = await Writer.start(COUNT, a.target, b.target);
      const groups: { id: string; members: string[] }[] = [];
      try {
        for (let round = 0; round < 3; round++) {
          const { group_snapshot: made } = await driver.csi.CreateVolumeGroupSnapshot({
            name: `group-${groups.length}-of-${a.id}-${b.id}`,
            source_volume_ids: [a.id, b.id],
          });
          groups.push({
            id: made?.group_snapshot_id ?? '',
            members: [a.id, b.id].map(
              (id) => made?.snapshots.find((member) => member.source_volume_id === id)?.snapshot_id ?? '',
            ),
          });
        }
      } finally {
        await writer.end();
      }
      for (const { id, members } of groups) {
        const copies = [
          await restored(driver, kindA, members[0] ?? ''),
          await restored(driver, kindB, members[1] ?? ''),
        ];
        const counts = await Promise.all(
          copies.map(async ({ target }) =>
            Number(await fs.readFile(path.join(target, 'count'), 'utf8').catch(() => '0')),
          ),
        );
        expect([0, 1]).toContain((counts[0] ?? 0) - (counts[1] ?? 0));
        for (const copy of copies) await dispose(driver, copy);
        await driver.csi.DeleteVolumeGroupSnapshot({ group_snapshot_id: id, snapshot_ids: members });
      }
      await dispose(driver, a);
      await dispose(driver, b);
    },
  );

  it('is refused for what cannot be cut at one instant, and leaves nothing behind', async () => {
    const ext4 = await use(driver, KINDS.ext4.options());
    for (const kind of [KINDS.block, KINDS.tmpfs, KINDS.directory]) {
      const other = await use(driver, kind.options());
      await expect(
        driver.csi.CreateVolumeGroupSnapshot({
          name: `no-${kind.name}`,
          source_volume_ids: [ext4.id, other.id],
        }),
      ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION, message: expect.stringContaining(other.id) });
      expect(await fs.readdir(path.join(driver.dataDir, 'snapshots'))).toEqual([]);
      await writeMark(KINDS.ext4, ext4, `not frozen after ${kind.name}`);
      await driver.csi.NodeUnpublishVolume({ volume_id: other.id, target_path: other.target });
      await driver.csi.NodeUnstageVolume({ volume_id: other.id, staging_target_path: other.staging });
      const { group_snapshot: made } = await driver.csi.CreateVolumeGroupSnapshot({
        name: `still-${kind.name}`,
        source_volume_ids: [ext4.id, other.id],
      });
      await driver.csi.DeleteVolumeGroupSnapshot({
        group_snapshot_id: made?.group_snapshot_id ?? '',
        snapshot_ids: made?.snapshots.map((member) => member.snapshot_id ?? '') ?? [],
      });
      await driver.csi.ControllerUnpublishVolume({ volume_id: other.id });
      await driver.csi.DeleteVolume({ volume_id: other.id });
    }
    await dispose(driver, ext4);
  });
});
