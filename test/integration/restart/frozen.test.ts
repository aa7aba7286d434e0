import { silentLog, type TestDriver } from '../../support/driver';
import { killedDriver, type Left } from '../../support/killed';
import { KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { dispose } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

/** What a driver wrote to its log as warnings: its repairs at start are among them. */
async function start(dataDir: string): Promise<{ driver: TestDriver; warnings: string[] }> {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
  return { driver: await machine.start({ dataDir, log }), warnings };
}

const isFrozen = async (at: string) => {
  try {
    await machine.host.mounts.freeze(at);
  } catch (error) {
    return (error as { errno?: string }).errno === 'EBUSY';
  }
  await machine.host.mounts.thaw(at);
  return false;
};

/** Volumes of these kinds, frozen by a snapshot whose driver was killed while it copied. */
async function killedWhileFrozen(...kinds: Kind[]): Promise<Left> {
  const left = await killedDriver(machine, kinds, { frozen: true });
  for (const { target } of left.volumes) expect(await isFrozen(target)).toBe(true);
  return left;
}

const KIND_SETS = [[KINDS.ext4], [KINDS.xfs], [KINDS.btrfs], [KINDS.ext4, KINDS.xfs]];

describe.each(KIND_SETS.map((kinds) => ({ kinds, names: kinds.map(({ name }) => name).join(' and ') })))(
  'a driver killed while it held $names still',
  ({ kinds }) => {
    it('lets writers go on at its next start, and says so', async () => {
      const { dataDir, volumes } = await killedWhileFrozen(...kinds);
      const writes = volumes.map((used, index) => writeMark(kinds[index] as Kind, used, 'held up'));
      const { driver, warnings } = await start(dataDir);
      await Promise.all(writes);
      expect(warnings).toContain(`thawed ${kinds.length} filesystems that a snapshot had frozen`);
      for (const [index, used] of volumes.entries()) {
        expect(await readMark(kinds[index] as Kind, used)).toBe('held up');
        await dispose(driver, used);
      }
      await driver.stop();
      expect(machine.loops(dataDir)).toEqual([]);
    });
  },
);

it('a filesystem that was unmounted from where it was frozen is reached by its device', async () => {
  const { dataDir, volumes } = await killedWhileFrozen(KINDS.ext4);
  const [used] = volumes;
  if (!used) throw new Error('no volume');
  machine.run('umount', '-l', used.staging);
  const { driver, warnings } = await start(dataDir);
  expect(warnings).toContain('thawed 1 filesystems that a snapshot had frozen');
  await writeMark(KINDS.ext4, used, 'through the target');
  await dispose(driver, used);
  await driver.stop();
});

it('a freeze that somebody else ended is no hindrance', async () => {
  const { dataDir, volumes } = await killedWhileFrozen(KINDS.ext4);
  const [used] = volumes;
  if (!used) throw new Error('no volume');
  await machine.host.mounts.thaw(used.target);
  const { driver, warnings } = await start(dataDir);
  expect(warnings.filter((warning) => warning.startsWith('thawed'))).toEqual([]);
  await writeMark(KINDS.ext4, used, 'after');
  await dispose(driver, used);
  await driver.stop();
});
