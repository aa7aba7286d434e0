import { createLibc } from '../../../src/host/libc';
import { createFilesystems } from '../../../src/host/linux/filesystems';
import { createToolRunner } from '../../../src/host/linux/filesystems-tools';
import { KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, stage } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

/** As in a container image that has none of the filesystems' programs, and made no template of an ext4 yet. */
const hostWithoutTools = () => ({
  ...machine.host,
  filesystems: createFilesystems({
    libc: createLibc(),
    cacheDir: machine.folder('cache'),
    runTool: createToolRunner('/nowhere'),
  }),
});

describe.each([
  { kind: KINDS.ext4, program: 'mkfs.ext4', from: 'e2fsprogs' },
  { kind: KINDS.xfs, program: 'mkfs.xfs', from: 'xfsprogs' },
  { kind: KINDS.btrfs, program: 'mkfs.btrfs', from: 'btrfs-progs' },
])('a $kind.name volume where $program is not installed', ({ kind, program, from }) => {
  it('is not staged, says what to install, and is whole once that is there', async () => {
    const first = await machine.start({ host: hostWithoutTools() });
    const id = await createVolume(first, kind.options());
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(stage(first, id, kind.options())).rejects.toMatchObject({
        message: expect.stringMatching(new RegExp(`${program} is not installed.* package ${from}`)),
      });
    expect(await machine.table()).toBe('');
    expect(machine.loops(first.dataDir)).toEqual([]);
    await first.stop();

    const second = await machine.start({ dataDir: first.dataDir });
    const used = await stage(second, id, kind.options());
    await publish(second, used);
    await writeMark(kind, used, 'at last');
    await second.stop();

    // What is formatted already needs no program.
    const third = await machine.start({ dataDir: first.dataDir, host: hostWithoutTools() });
    await third.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await third.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    const again = await stage(third, id, kind.options());
    await publish(third, again);
    expect(await readMark(kind, again)).toBe('at last');
    await dispose(third, again);
  });
});
