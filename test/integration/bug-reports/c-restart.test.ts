import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { ALL_KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, stage } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

/** What is kept of volumes. */
const kept = (dataDir: string) => fs.readdir(path.join(dataDir, 'volumes'));

describe.each(ALL_KINDS)('BL-117: a $name volume that was created before a restart', (kind) => {
  it('is attached, staged, published and keeps its data over one more', async () => {
    const first = await machine.start();
    const id = await createVolume(first, kind.options());
    await first.stop();
    const second = await machine.start({ dataDir: first.dataDir });
    const used = await stage(second, id, kind.options());
    await second.stop();
    const third = await machine.start({ dataDir: first.dataDir });
    await publish(third, used);
    await writeMark(kind, used, 'kept');
    await third.stop();
    const fourth = await machine.start({ dataDir: first.dataDir });
    expect(await readMark(kind, used)).toBe('kept');
    await dispose(fourth, used);
    expect(await kept(first.dataDir)).toEqual([]);
    await fourth.stop();
  });
});

describe.each(ALL_KINDS)('BL-119: a $name volume after a restart', (kind) => {
  it('has the id it had for the same name, and is really gone once deleted', async () => {
    const first = await machine.start();
    const id = await createVolume(first, { ...kind.options(), name: 'once' });
    await first.stop();

    const second = await machine.start({ dataDir: first.dataDir });
    expect(await createVolume(second, { ...kind.options(), name: 'once' })).toBe(id);
    expect(await kept(first.dataDir)).toHaveLength(1);
    await expect(
      createVolume(second, { ...kind.options(), name: 'once', size: kind.size * 2 }),
    ).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await second.csi.DeleteVolume({ volume_id: id });
    await second.stop();

    const third = await machine.start({ dataDir: first.dataDir });
    expect((await third.csi.ListVolumes({})).entries).toEqual([]);
    expect(await kept(first.dataDir)).toEqual([]);
    await third.csi.DeleteVolume({ volume_id: id });
    const anew = await createVolume(third, { ...kind.options(), name: 'once' });
    expect((await third.csi.ListVolumes({})).entries.map(({ volume }) => volume?.volume_id)).toEqual([anew]);
    await third.csi.DeleteVolume({ volume_id: anew });
    await third.stop();
  });
});
