import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { keyOf } from '../../../src/util/keys';
import type { TestDriver } from '../../support/driver';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import { dispose, publish, type UsedVolume, use } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';

const machine = useMachine();

const stageFile = (driver: TestDriver, used: UsedVolume) =>
  path.join(driver.dataDir, 'nodes/node-1/stages', `${keyOf(used.id)}.json`);
const publicationFile = (driver: TestDriver, used: UsedVolume) =>
  path.join(driver.dataDir, 'nodes/node-1/publications', `${keyOf(used.target)}.json`);

type Lose = (file: string) => Promise<void>;

/** Plays a restart of the driver whose records of two mounted volumes are lost: one volume is used on, one is not. */
async function restartWithout(kind: Kind, files: readonly (typeof stageFile)[], lose: Lose): Promise<void> {
  const first = await machine.start();
  const [goesOn, ends] = [await use(first, kind.options()), await use(first, kind.options())];
  await writeMark(kind, goesOn, 'still there');
  await first.stop();
  for (const used of [goesOn, ends]) for (const file of files) await lose(file(first, used));

  const second = await machine.start({ dataDir: first.dataDir });
  const table = await machine.table();
  await publish(second, goesOn);
  await publish(second, goesOn);
  expect(await machine.table()).toBe(table);
  expect(await readMark(kind, goesOn)).toBe('still there');
  for (const used of [goesOn, ends]) await dispose(second, used);
  expect(machine.loops(first.dataDir)).toEqual([]);
  expect(await machine.table()).toBe('');
  await second.stop();
}

describe.each(ALL_KINDS)('a mounted $name volume, after a restart', (kind) => {
  it.each([
    { what: 'its stage is', files: [stageFile] },
    { what: 'its publication is', files: [publicationFile] },
    { what: 'both are', files: [stageFile, publicationFile] },
  ])('for which the record of $what gone, is used on and is taken down', async ({ files }) => {
    await restartWithout(kind, files, (file) => fs.unlink(file));
  });
});

it.each<[string, Lose]>([
  ['empty', (file) => fs.truncate(file)],
  ['cut off', async (file) => fs.truncate(file, Math.floor((await fs.stat(file)).size / 2))],
  ['no JSON', (file) => fs.writeFile(file, 'these are no records')],
])('records that are %s are as good as gone', async (_how, lose) => {
  await restartWithout(KINDS.ext4, [stageFile, publicationFile], lose);
});
