import * as fs from 'node:fs';
import * as path from 'node:path';
import { createLibc, S_IF } from '../../../src/host/libc';
import { createLoopDevices } from '../../../src/host/linux/loops';
import { LoopNodes } from '../../../src/host/linux/loops-nodes';
import { KINDS, readMark, writeMark } from '../../support/kinds';
import { createVolume, dispose, release, stage, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();
const libc = createLibc();

/** The machine as a container sees it whose /dev is an empty tmpfs that takes no nodes. */
function withoutNodes(own: (dev: string) => string) {
  const dev = machine.folder('dev');
  machine.run('mount', '-t', 'tmpfs', '-o', 'ro', 'tmpfs', dev);
  const nodes = new LoopNodes(libc, { dev, own: own(dev) });
  const loops = createLoopDevices(libc, nodes);
  return { host: { ...machine.host, loops }, end: () => machine.run('umount', dev) };
}

describe('BL-059: what an earlier life left in the folder of our own nodes', () => {
  /** Puts the same thing under the name of every device that the next attachment may get. */
  const fill = async (own: string, put: (node: string) => unknown) => {
    const known = fs.readdirSync('/sys/block').filter((name) => /^loop\d+$/.test(name));
    // Where all are in use the kernel makes one more, of the lowest number there is none of.
    const further = Array.from({ length: known.length + 60 }, (_, index) => `loop${index}`);
    for (const name of new Set([...known, ...further])) await put(path.join(own, name));
  };

  it.each<[string, (node: string) => unknown]>([
    ['a link to another device', (node) => fs.symlinkSync('/dev/null', node)],
    ['a link that leads nowhere', (node) => fs.symlinkSync('/dev/nowhere', node)],
    ['a link to itself', (node) => fs.symlinkSync(path.basename(node), node)],
    [
      'a node of a device that is gone',
      (node) => libc.mknod(node, S_IF.BLK | 0o600, { major: 240, minor: 7 }),
    ],
    ['a file', (node) => fs.writeFileSync(node, 'stale')],
  ])('%s is replaced', async (_, put) => {
    const own = machine.folder('own');
    const { host, end } = withoutNodes(() => own);
    await fill(own, put);
    const driver = await machine.start({ host });
    for (const kind of [KINDS.ext4, KINDS.block]) {
      const used = await use(driver, kind.options());
      await writeMark(kind, used, kind.name);
      expect(await readMark(kind, used)).toBe(kind.name);
      const [{ index = -1 } = {}] = machine.loops(driver.dataDir);
      const { rdev } = fs.lstatSync(path.join(own, `loop${index}`));
      expect(rdev).toBe(fs.statSync(`/dev/loop${index}`).rdev);
      await dispose(driver, used);
    }
    await driver.stop();
    end();
  });
});

describe('BL-065: where no loop device has a node', () => {
  it('devices of others are none of our business', async () => {
    const file = path.join(machine.folder('others'), 'theirs.img');
    fs.writeFileSync(file, Buffer.alloc(1024 * 1024));
    const theirs = await machine.host.loops.attach(file, { readOnly: true, autoclear: true });
    const { host, end } = withoutNodes((dev) => path.join(dev, 'own'));
    await expect(host.loops.status(theirs.index)).rejects.toThrow(/has no node and none can be made/);
    const driver = await machine.start({ host });
    expect(await driver.csi.Probe({})).toMatchObject({ ready: { value: true } });
    await driver.stop();
    end();
    await theirs.release();
  });

  it.each([KINDS.block, KINDS.ext4])(
    'a $name volume is made, its stage says what to do, and it can be deleted',
    async (kind) => {
      const { host, end } = withoutNodes((dev) => path.join(dev, 'own'));
      const driver = await machine.start({ host });
      const id = await createVolume(driver, kind.options());
      await expect(stage(driver, id, kind.options())).rejects.toMatchObject({
        message: expect.stringMatching(/has no node and none can be made.*Mount the host's \/dev/),
      });
      const staging = path.join(driver.dir, `${id}-staging`);
      await driver.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
      await driver.csi.ControllerUnpublishVolume({ volume_id: id });
      await driver.csi.DeleteVolume({ volume_id: id });
      expect(fs.readdirSync(path.join(driver.dataDir, 'volumes'))).toEqual([]);
      expect(machine.loops(driver.dataDir)).toEqual([]);
      await driver.stop();
      end();
      // With /dev as it is, the same volume is served.
      const other = await machine.start();
      await release(other, await stage(other, await createVolume(other, kind.options()), kind.options()));
      await other.stop();
    },
  );
});
