import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { TestDriver } from '../../support/driver';
import { KINDS } from '../../support/kinds';
import { dispose, MIB, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { snapshot, snapshotDisk } from './snapshots-support';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

describe('snapshot metadata', () => {
  const BLOCK = 4096;

  type Tuple = { byte_offset: string; size_bytes: string };
  const covered = (tuples: Tuple[]) => {
    const blocks = new Set<number>();
    for (const { byte_offset, size_bytes } of tuples)
      for (let at = Number(byte_offset); at < Number(byte_offset) + Number(size_bytes); at += BLOCK)
        blocks.add(Math.floor(at / BLOCK));
    return blocks;
  };

  it.each([KINDS.ext4, KINDS.block])(
    'of a $name volume names every block that holds data or changed',
    async (kind) => {
      const used = await use(driver, kind.options());
      const write = async (at: number, bytes: Buffer) => {
        const file = kind.block ? used.target : path.join(used.target, 'file');
        const handle = await fs.open(file, kind.block ? 'r+' : 'a+').then(async (opened) => {
          if (kind.block) return opened;
          await opened.close();
          return fs.open(file, 'r+');
        });
        await handle.write(bytes, 0, bytes.length, at);
        await handle.sync();
        await handle.close();
      };
      await write(0, Buffer.alloc(3 * BLOCK, 1));
      await write(5 * MIB, Buffer.alloc(BLOCK, 2));
      const base = await snapshot(driver, used);
      await write(BLOCK, Buffer.alloc(10, 9));
      await write(9 * MIB, Buffer.alloc(70_000, 3));
      const target = await snapshot(driver, used);

      const [before, after] = await Promise.all(
        [base, target].map((id) => fs.readFile(snapshotDisk(driver, id))),
      );
      if (!before || !after) throw new Error('no disks');
      const zero = Buffer.alloc(BLOCK);
      const blockOf = (disk: Buffer, index: number) => disk.subarray(index * BLOCK, (index + 1) * BLOCK);
      const count = after.length / BLOCK;
      const indexes = Array.from({ length: count }, (_, index) => index);
      const changed = indexes.filter((index) => !blockOf(before, index).equals(blockOf(after, index)));
      const filled = indexes.filter((index) => !blockOf(after, index).equals(zero));

      for (const max_results of [0, 1, 7]) {
        const deltas = await driver.csi.GetMetadataDelta({
          base_snapshot_id: base,
          target_snapshot_id: target,
          max_results,
        });
        const tuples = deltas.flatMap((message) => message.block_metadata);
        expect([...covered(tuples)].sort((x, y) => x - y)).toEqual(changed);
        if (max_results > 0)
          for (const message of deltas)
            expect(message.block_metadata.length).toBeLessThanOrEqual(max_results);
        const allocated = covered(
          (await driver.csi.GetMetadataAllocated({ snapshot_id: target, max_results })).flatMap(
            (message) => message.block_metadata,
          ),
        );
        expect(filled.filter((index) => !allocated.has(index))).toEqual([]);
      }
      const from = (changed[1] ?? 0) * BLOCK;
      const rest = await driver.csi.GetMetadataDelta({
        base_snapshot_id: base,
        target_snapshot_id: target,
        starting_offset: `${from}`,
      });
      expect([...covered(rest.flatMap((message) => message.block_metadata))].sort((x, y) => x - y)).toEqual(
        changed.slice(1),
      );
      await dispose(driver, used);
      for (const id of [base, target]) await driver.csi.DeleteSnapshot({ snapshot_id: id });
    },
  );
});
