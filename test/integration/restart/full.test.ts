import * as fs from 'node:fs';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { KINDS } from '../../support/kinds';
import { useMachine } from '../../support/machine';
import { finish, type Subject } from '../crash/moves';
import { SCENARIOS } from '../crash/scenarios';
import { leftIn, subjectOf } from '../crash/subjects';

const machine = useMachine();

/** What can be done without a byte more on the disk: everything that gives bytes back, or takes down. */
const NEEDS_NO_SPACE = new Set([
  'DeleteVolume',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'DeleteSnapshot',
  'DeleteVolumeGroupSnapshot',
]);

/** Takes all the space that is left. @returns what gives it back. */
function fill(folder: string): () => void {
  const ballast = path.join(folder, 'ballast');
  const fd = fs.openSync(ballast, 'w');
  try {
    for (let size = 1 << 20; size > 0; ) {
      try {
        fs.writeSync(fd, Buffer.alloc(size, 1));
      } catch {
        size >>= 1;
      }
    }
  } finally {
    fs.closeSync(fd);
  }
  return () => fs.rmSync(ballast);
}

/** One of a title, as what differs between them is the point of a kill. A raw device's and an xfs' writes are an ext4's. */
const scenarios = [...new Map(SCENARIOS.map((scenario) => [scenario.title, scenario])).values()]
  .filter(({ refuseGrowth }) => refuseGrowth !== true)
  .map((scenario) => ({
    ...scenario,
    kinds: scenario.kinds.filter((kind) => kind === KINDS.ext4 || kind === KINDS.tmpfs),
  }));

describe.each(scenarios)('$title on a full data folder', (scenario) => {
  it('is done or refused for want of space, and nothing is lost, also when the driver starts there', async () => {
    const disk = machine.folder('disk');
    machine.run('mount', '-t', 'tmpfs', '-o', 'size=64m', 'data', disk);
    const dataDir = path.join(disk, 'data');
    const first = await machine.start({ dataDir });
    const subjects: Subject[] = [];
    for (const kind of scenario.kinds) subjects.push(await subjectOf(first, kind, path.basename(disk)));
    for (const subject of subjects) await scenario.prepare(first, subject);
    const before = await names(dataDir);
    const giveBack = fill(disk);

    const refused = async (driver: typeof first) => {
      for (const subject of subjects) {
        const call = scenario.call(driver, subject);
        if (NEEDS_NO_SPACE.has(scenario.method)) await call;
        else
          await expect(call).rejects.toMatchObject({
            code: Code.RESOURCE_EXHAUSTED,
            message: expect.stringMatching(new RegExp(`^no space: .*${dataDir}`)),
          });
      }
    };
    await refused(first);
    if (!NEEDS_NO_SPACE.has(scenario.method)) expect(await names(dataDir)).toEqual(before);
    await first.stop();
    const second = await machine.start({ dataDir });
    await refused(second);

    giveBack();
    for (const subject of subjects) {
      await scenario.call(second, subject);
      await scenario.go(second, subject);
      await finish(second, subject);
    }
    expect(await leftIn(dataDir)).toEqual([]);
    await second.stop();
    machine.run('umount', disk);
  });
});

async function names(folder: string): Promise<string[]> {
  return (await fs.promises.readdir(folder, { recursive: true })).sort();
}
