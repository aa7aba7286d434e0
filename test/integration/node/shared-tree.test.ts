import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, publish, stage, type UsedVolume, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { OtherNamespace } from '../../support/other-namespace';

/** A node whose mount tree is shared, and the kubelet in another mount namespace than the driver. */
const machine = useMachine('shared');
let driver: TestDriver;
let kubelet: OtherNamespace;
beforeAll(async () => {
  driver = await machine.start();
  kubelet = await OtherNamespace.start('unchanged');
});
afterAll(() => kubelet.end());

const unpublish = (used: UsedVolume) =>
  driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });

/** How many mounts at a path the kubelet has. */
const seenByKubelet = (at: string) =>
  kubelet
    .run('cat', '/proc/self/mountinfo')
    .split('\n')
    .filter((line) => line.split(' ')[4] === at).length;

function coverInKubelet(kind: Kind, at: string): void {
  if (kind.block) kubelet.run('mount', '--bind', '/dev/null', at);
  else kubelet.run('mount', '-t', 'tmpfs', 'theirs', at);
}

describe.each(ALL_KINDS)('a $name volume where mounts are shared', (kind) => {
  it('shows in other mount namespaces while it is published, and leaves nothing there', async () => {
    const used = await use(driver, kind.options());
    expect(seenByKubelet(used.target)).toBe(1);
    await unpublish(used);
    expect(seenByKubelet(used.target)).toBe(0);
    await dispose(driver, used);
    expect(seenByKubelet(used.staging)).toBe(0);
  });

  it('is covered at its target only by what is mounted over that', async () => {
    const used = await use(driver, kind.options());
    coverInKubelet(kind, used.target);
    expect(await machine.mountsAt(used.target)).toHaveLength(2);
    expect(await machine.mountsAt(used.staging)).toHaveLength(kind.block ? 0 : 1);
    await expect(publish(driver, used)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await expect(unpublish(used)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
    kubelet.run('umount', used.target);
    await publish(driver, used);
    await dispose(driver, used);
    expect(seenByKubelet(used.target)).toBe(0);
  });

  it('is covered at one target and is whole at another', async () => {
    const options = kind.options('SINGLE_NODE_MULTI_WRITER');
    const used = await stage(driver, await createVolume(driver, options), options);
    const [one, other] = [
      { ...used, target: `${used.target}-1` },
      { ...used, target: `${used.target}-2` },
    ];
    await publish(driver, one);
    await publish(driver, other);
    coverInKubelet(kind, one.target);
    await writeMark(kind, other, 'of the volume');
    expect(await readMark(kind, one)).toBeUndefined();
    kubelet.run('umount', one.target);
    expect(await readMark(kind, one)).toBe('of the volume');
    await unpublish(one);
    await dispose(driver, other);
  });
});

it('a raw device is not covered in /dev by what is mounted over its target', async () => {
  const used = await use(driver, KINDS.block.options());
  const device = `/dev/loop${machine.loops(driver.dataDir)[0]?.index}`;
  const before = (await fs.stat(device)).rdev;
  coverInKubelet(KINDS.block, used.target);
  expect((await fs.stat(device)).rdev).toBe(before);
  kubelet.run('umount', used.target);
  await dispose(driver, used);
});

describe.each(ALL_KINDS.filter((kind) => !kind.block))('a $name volume that a pod mounts into', (kind) => {
  it('is not unpublished before that is gone, and has no part of it in its stage', async () => {
    const used = await use(driver, kind.options());
    const inside = path.join(used.target, 'inside');
    await fs.mkdir(inside);
    kubelet.run('mount', '-t', 'tmpfs', 'of-the-pod', inside);
    expect(await machine.mountsAt(inside)).toHaveLength(1);
    expect(await machine.mountsAt(path.join(used.staging, 'inside'))).toEqual([]);
    await expect(unpublish(used)).rejects.toMatchObject({ message: expect.stringContaining('in use') });
    kubelet.run('umount', inside);
    await dispose(driver, used);
  });
});
