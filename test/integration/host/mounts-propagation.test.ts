import type { MountEntry } from '../../../src/host/host';
import { run } from '../../support/run';
import { describeMounting } from './mounts-support';

describeMounting('binds where mounts are shared', ({ mounts, makeFolder, makeFile }) => {
  const TMPFS = { fsType: 'tmpfs', source: 'tmpfs', readOnly: false, options: [] };
  const at = async (mountPoint: string): Promise<MountEntry[]> =>
    (await mounts.list()).filter((entry) => entry.mountPoint === mountPoint);

  /** A mount whose propagation is known, with a source that is mounted in it and a folder for a target. */
  async function tree(name: string, propagation: 'shared' | 'private') {
    const top = makeFolder(name);
    await mounts.mount({ ...TMPFS, target: top });
    run('mount', `--make-${propagation}`, top);
    const [source, target] = [makeFolder(`${name}/source`), makeFolder(`${name}/target`)];
    await mounts.mount({ ...TMPFS, target: source });
    return { source, target, clear: () => run('umount', '-R', top) };
  }

  test('a bind is shared as its folder is, in a group of its own', async () => {
    const { source, target, clear } = await tree('shared', 'shared');
    await mounts.bind({ source, target, readOnly: true, options: ['noexec'] });
    const [[from], [to]] = [await at(source), await at(target)];
    expect(from?.propagation).toEqual([expect.stringMatching(/^shared:/)]);
    expect(to?.propagation).toEqual([expect.stringMatching(/^shared:/)]);
    expect(to?.propagation).not.toEqual(from?.propagation);
    expect(to?.options).toEqual(expect.arrayContaining(['ro', 'noexec']));
    clear();
  });

  test('a bind is private where its folder is, also one of a shared source', async () => {
    const { source, target, clear } = await tree('private', 'private');
    run('mount', '--make-shared', source);
    await mounts.bind({ source, target, readOnly: false, options: [] });
    expect((await at(target))[0]?.propagation).toEqual([]);
    clear();
  });

  test.each(['source', 'target'] as const)('what is mounted over the %s covers it alone', async (covered) => {
    const { source, target, clear } = await tree(`over-${covered}`, 'shared');
    await mounts.bind({ source, target, readOnly: false, options: [] });
    await mounts.mount({ ...TMPFS, target: covered === 'source' ? source : target });
    expect(await at(source)).toHaveLength(covered === 'source' ? 2 : 1);
    expect(await at(target)).toHaveLength(covered === 'target' ? 2 : 1);
    clear();
  });

  test('what is mounted over a bound file leaves the file as it is', async () => {
    const { source, clear } = await tree('file', 'shared');
    const [file, target] = [makeFile('file/source/file'), makeFile('file/target-file')];
    await mounts.bind({ source: file, target, readOnly: false, options: [] });
    await mounts.bind({ source: '/dev/zero', target, readOnly: false, options: [] });
    expect(await at(file)).toEqual([]);
    expect(await at(source)).toHaveLength(1);
    clear();
  });
});
