import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { HostError } from '../../../src/host/host';
import { systemClock } from '../../../src/util/clock';
import { mountUnanswered } from '../../support/dead-fuse';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS } from '../../support/kinds';
import { dispose, MIB, publish, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const BYTES = 1;
const INODES = 2;
const machine = useMachine();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start();
});

const statsAt = (of: TestDriver, id: string, at: string) =>
  of.csi.NodeGetVolumeStats({ volume_id: id, volume_path: at });

describe.each(ALL_KINDS.filter((kind) => !kind.block))('stats of a $name volume', (kind) => {
  it('are those of the volume, and add up', async () => {
    const used = await use(driver, kind.options());
    const before = await statsAt(driver, used.id, used.target);
    await fs.writeFile(path.join(used.target, 'file'), Buffer.alloc(2 * MIB, 1));
    machine.run('sync', '-f', used.target);
    const after = await statsAt(driver, used.id, used.target);
    expect(after.volume_condition).toEqual({ abnormal: false, message: 'the volume is healthy' });
    expect(after.usage.map(({ unit }) => unit)).toEqual([BYTES, INODES]);
    for (const { total, used: taken, available } of after.usage)
      expect(BigInt(taken) + BigInt(available)).toBeLessThanOrEqual(BigInt(total));
    const [bytes] = after.usage;
    expect(Number(bytes?.total)).toBeLessThanOrEqual(kind.size);
    expect(Number(bytes?.total)).toBeGreaterThan(kind.size * 0.7);
    expect(Number(bytes?.used) - Number(before.usage[0]?.used)).toBeGreaterThanOrEqual(1.9 * MIB);
    expect(await statsAt(driver, used.id, used.staging)).toMatchObject({
      usage: [{ total: bytes?.total }, {}],
    });
    await dispose(driver, used);
  });

  it('say so when somebody unmounted the volume', async () => {
    const used = await use(driver, kind.options());
    machine.run('umount', used.target);
    const { volume_condition } = await statsAt(driver, used.id, used.target);
    expect(volume_condition).toMatchObject({
      abnormal: true,
      message: expect.stringContaining('nothing is mounted'),
    });
    await dispose(driver, used);
  });
});

it('stats of a raw device are its size and nothing else', async () => {
  const used = await use(driver, KINDS.block.options());
  const { usage } = await statsAt(driver, used.id, used.target);
  expect(usage).toEqual([{ unit: BYTES, total: `${KINDS.block.size}`, available: '0', used: '0' }]);
  await dispose(driver, used);
});

it('stats are asked for where the volume is, and nowhere else', async () => {
  const [one, two] = [await use(driver, KINDS.tmpfs.options()), await use(driver, KINDS.tmpfs.options())];
  for (const at of [two.target, two.staging, '/', '/nowhere'])
    await expect(statsAt(driver, one.id, at)).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await expect(statsAt(driver, 'nobody', one.target)).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await dispose(driver, one);
  await dispose(driver, two);
});

it('stats of a filesystem that does not answer end, do not pile up, and hold up nobody else', async () => {
  let asleep = 0;
  let wake: () => void = () => undefined;
  const patience = new Promise<void>((resolve) => {
    wake = resolve;
  });
  // The patience of the driver, as long as the test likes.
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms !== 10_000) return systemClock.sleep(ms, signal);
      asleep += 1;
      await patience;
    },
  };
  let hung = '';
  let asked = 0;
  const counting = {
    ...machine.host,
    mounts: {
      ...machine.host.mounts,
      at: (name: string) => {
        if (name === hung) asked += 1;
        return machine.host.mounts.at(name);
      },
    },
  };
  const own = await machine.start({ clock, host: counting });
  const used = await use(own, KINDS.tmpfs.options());
  const other = await use(own, KINDS.ext4.options());
  hung = used.target;
  const filesystem = await mountUnanswered(machine.host.mounts, used.target);
  const waiting = Array.from({ length: 20 }, () => statsAt(own, used.id, used.target));
  while (asleep < 20) await statsAt(own, other.id, other.target);
  expect(asked).toBe(1);
  wake();
  for (const { volume_condition } of await Promise.all(waiting))
    expect(volume_condition).toMatchObject({
      abnormal: true,
      message: expect.stringContaining('did not answer'),
    });
  filesystem.die();
  await dispose(own, used);
  await dispose(own, other);
});

describe('stats of a volume that is taken down meanwhile', () => {
  it('are neither those of the filesystem below nor a volume in trouble', async () => {
    const gate = new TestGate();
    const gated = await machine.start({ faults: gate });
    const used = await use(gated, KINDS.tmpfs.options());
    const held = gate.hold('NodeUnpublishVolume', 'unmounted');
    const unpublished = gated.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
    await held.reached;
    await expect(statsAt(gated, used.id, used.target)).rejects.toMatchObject({
      code: Code.ABORTED,
      message: expect.stringContaining('NodeUnpublishVolume'),
    });
    held.release();
    await unpublished;
    await expect(statsAt(gated, used.id, used.target)).rejects.toMatchObject({ code: Code.NOT_FOUND });
    await dispose(gated, used);
  });

  describe.each([KINDS.tmpfs, KINDS.ext4])('between the look and the question, $name', (kind) => {
    /** A driver; what is given to `meanwhile` is done once, when it asks the filesystem how full it is. */
    async function interrupted() {
      let work: (() => Promise<unknown>) | undefined;
      const { mounts } = machine.host;
      const usage = async (at: string) => {
        const now = work;
        work = undefined;
        await now?.();
        return mounts.usage(at);
      };
      const own = await machine.start({ host: { ...machine.host, mounts: { ...mounts, usage } } });
      const used = await use(own, kind.options());
      const unpublish = () => own.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
      const meanwhile = (what: () => Promise<unknown>) => {
        work = what;
      };
      return { own, used, unpublish, meanwhile };
    }

    it('there are none of a volume that is gone', async () => {
      const { own, used, unpublish, meanwhile } = await interrupted();
      meanwhile(unpublish);
      await expect(statsAt(own, used.id, used.target)).rejects.toMatchObject({ code: Code.NOT_FOUND });
      await dispose(own, used);
    });

    it('they are those of a volume that was put up again', async () => {
      const { own, used, unpublish, meanwhile } = await interrupted();
      meanwhile(async () => {
        await unpublish();
        await publish(own, used);
      });
      const { usage, volume_condition } = await statsAt(own, used.id, used.target);
      expect(usage).toHaveLength(2);
      expect(volume_condition).toMatchObject({ abnormal: false });
      await dispose(own, used);
    });

    it('an error that has nothing to do with it stays what it is', async () => {
      const { own, used, meanwhile } = await interrupted();
      meanwhile(() => Promise.reject(new HostError('ENOMEM', 'statfs', 'statfs: ENOMEM')));
      await expect(statsAt(own, used.id, used.target)).rejects.toMatchObject({
        code: Code.INTERNAL,
        message: expect.stringContaining('ENOMEM'),
      });
      await dispose(own, used);
    });
  });

  it('whenever the mount goes', async () => {
    const told: string[] = [];
    for (let i = 0; i < 40; i++) {
      const used = await use(driver, KINDS.tmpfs.options());
      const unpublished = driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
      const stats = await statsAt(driver, used.id, used.target).catch(({ code }) => code);
      await unpublished;
      told.push(typeof stats === 'number' ? Code[stats] : stats.usage[0]?.total);
      await dispose(driver, used);
    }
    expect(told.filter((one) => !['ABORTED', 'NOT_FOUND', `${KINDS.tmpfs.size}`].includes(one))).toEqual([]);
  });
});
