import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { TestDriver } from '../../support/driver';
import { KINDS, writeMark } from '../../support/kinds';
import { dispose, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { run } from '../../support/run';
import { expectNoRecovery, snapshot, snapshotDisk, Writer } from './snapshots-support';

const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

it('a snapshot of an ext4 that is being written needs no recovery, and is clean', async () => {
  const used = await use(driver, KINDS.ext4.options());
  const writer = await Writer.start(
    'cd "$1"; echo go; while :; do for i in 1 2 3 4 5 6 7 8; do echo $RANDOM$RANDOM > f$i; mkdir d$i; rmdir d$i; done; sync -f .; done',
    used.target,
  );
  const ids: string[] = [];
  try {
    for (let round = 0; round < 4; round++) ids.push(await snapshot(driver, used));
  } finally {
    await writer.end();
  }
  for (const id of ids) {
    expectNoRecovery(snapshotDisk(driver, id));
    run('e2fsck', '-fn', snapshotDisk(driver, id));
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
  }
  await dispose(driver, used);
});

it('two snapshots of one volume at once are both of a still disk', async () => {
  const used = await use(driver, KINDS.ext4.options());
  const writer = await Writer.start(
    'cd "$1"; echo go; while :; do echo $RANDOM > f; mkdir d; rmdir d; sync -f .; done',
    used.target,
  );
  let ids: string[] = [];
  try {
    ids = await Promise.all(Array.from({ length: 5 }, () => snapshot(driver, used)));
  } finally {
    await writer.end();
  }
  for (const id of ids) {
    expectNoRecovery(snapshotDisk(driver, id));
    run('e2fsck', '-fn', snapshotDisk(driver, id));
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
  }
  await dispose(driver, used);
});

it('a volume whose stage was unmounted is frozen at its target', async () => {
  const used = await use(driver, KINDS.ext4.options());
  await writeMark(KINDS.ext4, used, 'through the target');
  machine.run('umount', used.staging);
  const id = await snapshot(driver, used);
  expectNoRecovery(snapshotDisk(driver, id));
  await dispose(driver, used);
  await driver.csi.DeleteSnapshot({ snapshot_id: id });
});

it('a copy that takes its time holds up the writers of its own volume only, and ends the freeze when it fails', async () => {
  let proceed: () => void = () => undefined;
  let fail = false;
  const { disks } = machine.host;
  let arrived: () => void = () => undefined;
  const host = {
    ...machine.host,
    disks: {
      ...disks,
      copySparse: async (from: string, to: string, signal?: AbortSignal) => {
        arrived();
        await new Promise<void>((resolve) => {
          proceed = resolve;
        });
        if (fail) throw new Error('the copy failed');
        await disks.copySparse(from, to, signal);
      },
    },
  };
  const own = await machine.start({ host });
  const used = await use(own, KINDS.ext4.options());
  for (fail of [false, true]) {
    const copying = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const cut = snapshot(own, used);
    await copying;
    let written = false;
    const write = writeMark(KINDS.ext4, used, 'after').then(() => {
      written = true;
    });
    const other = await use(own, KINDS.ext4.options());
    await writeMark(KINDS.ext4, other, 'at once');
    await dispose(own, other);
    expect(written).toBe(false);
    proceed();
    if (fail) await expect(cut).rejects.toMatchObject({ message: 'the copy failed' });
    else await own.csi.DeleteSnapshot({ snapshot_id: await cut });
    await write;
  }
  expect(await fs.readdir(path.join(own.dataDir, 'nodes/node-1/undo'))).toEqual([]);
  await dispose(own, used);
});
