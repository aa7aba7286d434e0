import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, readMark, writeMark } from '../../support/kinds';
import { dispose, type UseOptions, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

/** What became of eight equal calls at once: ids of volumes, and codes of those that were refused. */
async function createEightTimes(driver: TestDriver, name: string, options: UseOptions) {
  const call = () =>
    driver.csi.CreateVolume({
      name,
      capacity_range: { required_bytes: options.size ?? 0 },
      volume_capabilities: options.capability ? [options.capability] : [],
      parameters: options.parameters ?? {},
    });
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, call));
  return {
    ids: new Set(
      outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.volume?.volume_id] : [])),
    ),
    codes: new Set(outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))),
    last: (await call()).volume?.volume_id,
  };
}

describe.each(ALL_KINDS)('a $name volume that is asked for again', (kind) => {
  it('BL-080: is the same one, in use and with its data, also after a restart', async () => {
    const first = await machine.start();
    const name = `again ${kind.name}`;
    const made = await createEightTimes(first, name, kind.options());
    const used = await use(first, { ...kind.options(), name });
    expect(made.last).toBe(used.id);
    await writeMark(kind, used, 'precious');
    const mounts = await machine.table();
    const inUse = await createEightTimes(first, name, kind.options());
    await first.stop();
    const second = await machine.start({ dataDir: first.dataDir });
    const restarted = await createEightTimes(second, name, kind.options());
    for (const { ids, codes, last } of [made, inUse, restarted]) {
      expect(last).toBe(used.id);
      expect([...ids]).toEqual([used.id]);
      expect([...codes].filter((code) => code !== Code.ABORTED)).toEqual([]);
    }
    expect(await readMark(kind, used)).toBe('precious');
    expect(await machine.table()).toBe(mounts);
    expect((await second.csi.ListVolumes()).entries).toHaveLength(1);
    await dispose(second, used);
    await second.stop();
  });
});
