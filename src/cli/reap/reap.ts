import { mkdtempSync, rmdirSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { FS_TYPES, type Host, type LoopStatus, type MountEntry } from '../../host/host';
import type { Clock } from '../../util/clock';
import { errnoOf, namesIn, removeFolder } from '../../util/files';
import type { Log } from '../../util/log';
import { Freezer } from '../../volumes/freezer';
import type { DataFolder } from './data-folder';
import { childOf, hides, mountedElsewhere } from './in-the-way';
import { isOurLoop, loopOf, mayBeOurs, ourMounts } from './ours';
import type { Step } from './report';
import { stale } from './sockets';

export interface ReapOptions {
  host: Host;
  clock: Clock;
  deleteData: boolean;
}

const PATIENCE_MS = 2_000;
const POLL_MS = 10;

/** What an ordered look at the machine finds of one data folder. Changes nothing. */
export async function plan({ host, deleteData }: ReapOptions, folder: DataFolder): Promise<Step[]> {
  const steps: Step[] = [];
  const todo = (action: Step['action'], what: string) => void steps.push({ action, what, done: false });
  for (const file of notes(folder)) todo('thaw', `what ${file} tells of`);
  const loops = await loopsOf(host, folder);
  const table = await host.mounts.list();
  for (const { entry } of deepestFirst(table, ourMounts(table, indexes(loops), folder)))
    todo('unmount', mountText(entry));
  for (const loop of loops) todo('detach', loopText(loop));
  for (const file of await socketsOf(folder)) todo('remove', file);
  if (deleteData) for (const one of await dataOf(folder)) todo('remove', one);
  return steps;
}

/** Takes down what a driver left: thaw, unmount, detach, remove. Whoever calls it has the folder's locks. */
export async function reap(options: ReapOptions, folder: DataFolder): Promise<Step[]> {
  const { host } = options;
  const steps: Step[] = [];
  const found = await loopsOf(host, folder);
  const loops = indexes(found);
  steps.push(...(await thaw(host, folder, loops)));
  steps.push(...(await unmount(host, folder, loops)));
  steps.push(...(await detach(options, found)));
  for (const file of await socketsOf(folder)) steps.push(await attempt('remove', file, () => fs.rm(file)));
  if (options.deleteData) steps.push(...(await deleteData(host, folder, steps)));
  return steps;
}

export async function attempt(
  action: Step['action'],
  what: string,
  work: () => Promise<void>,
): Promise<Step> {
  try {
    await work();
    return { action, what, done: true };
  } catch (error) {
    return { action, what, done: false, problem: (error as Error).message };
  }
}

async function loopsOf(host: Host, folder: DataFolder): Promise<LoopStatus[]> {
  return (await host.loops.list((file) => mayBeOurs(file, folder))).filter((loop) => isOurLoop(loop, folder));
}

const indexes = (loops: readonly LoopStatus[]) => new Set(loops.map(({ index }) => index));
const loopText = ({ path: device, backing }: LoopStatus) => `${device} over ${backing.path}`;
const mountText = ({ mountPoint, source }: MountEntry) => `${mountPoint} (${source})`;

function notes({ undo }: DataFolder): string[] {
  return undo.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith('freeze-'))
      .map((name) => path.join(folder, name)),
  );
}

/** By what was written before each freeze; and, since that may be broken, wherever one of our filesystems is mounted. */
async function thaw(host: Host, folder: DataFolder, loops: ReadonlySet<number>): Promise<Step[]> {
  const steps: Step[] = [];
  for (const undo of folder.undo) {
    if (!namesIn(undo).some((name) => name.startsWith('freeze-'))) continue;
    const thawed = await new Freezer(host, undo, SILENT).recover();
    if (thawed > 0)
      steps.push({
        action: 'thaw',
        what: `${thawed} ${thawed === 1 ? 'filesystem' : 'filesystems'} that ${undo} tells of`,
        done: true,
      });
  }
  const tried = new Set<number>();
  for (const entry of await host.mounts.list()) {
    const index = loopOf(entry);
    if (index === undefined || !loops.has(index) || tried.has(index)) continue;
    tried.add(index);
    const step = await attempt('thaw', mountText(entry), () => host.mounts.thaw(entry.mountPoint));
    // Most are not frozen, which the kernel says by refusing (EINVAL).
    if (step.done) steps.push(step);
  }
  return steps;
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What is on top before what it is on; a mount that is not ours stays, with all below it. */
function deepestFirst(
  table: readonly MountEntry[],
  ours: readonly MountEntry[],
): { entry: MountEntry; blockedBy?: MountEntry }[] {
  const order: { entry: MountEntry; blockedBy?: MountEntry }[] = [];
  let rest = table;
  const waiting = new Set(ours);
  for (;;) {
    const next = [...waiting].reverse().find((entry) => !childOf(rest, entry));
    if (!next) break;
    waiting.delete(next);
    rest = rest.filter((one) => one !== next);
    order.push({ entry: next });
  }
  for (const entry of waiting) {
    const blockedBy = childOf(rest, entry);
    order.push({ entry, ...(blockedBy && { blockedBy }) });
  }
  return order;
}

async function unmount(host: Host, folder: DataFolder, loops: ReadonlySet<number>): Promise<Step[]> {
  const steps: Step[] = [];
  const given = new Set<bigint>();
  for (;;) {
    // Anew each time: where mounts are shared, one unmount takes its peers along.
    const table = await host.mounts.list();
    const ours = ourMounts(table, loops, folder).filter(({ mountId }) => !given.has(mountId));
    const [first] = deepestFirst(table, ours);
    if (!first) return steps;
    const { entry, blockedBy } = first;
    given.add(entry.mountId);
    steps.push(
      await attempt('unmount', mountText(entry), () =>
        unmountOne(host, entry, blockedBy ?? hides(table, entry)),
      ),
    );
  }
}

async function unmountOne(host: Host, entry: MountEntry, inTheWay: MountEntry | undefined): Promise<void> {
  if (inTheWay)
    throw new Error(
      `${inTheWay.mountPoint} (${inTheWay.source}) is mounted over it; \`umount ${inTheWay.mountPoint}\` first, if that may go`,
    );
  try {
    await host.mounts.unmount(entry.mountPoint);
  } catch (error) {
    if (errnoOf(error) !== 'EBUSY') throw error;
    throw new Error(
      `a process uses it; \`fuser -vm ${entry.mountPoint}\` tells which, end it and reap again`,
    );
  }
}

/** The most go by themselves, with the last mount of them. */
async function detach(options: ReapOptions, loops: readonly LoopStatus[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const loop of loops)
    steps.push(await attempt('detach', loopText(loop), () => detachOne(options, loop)));
  return steps;
}

async function detachOne(options: ReapOptions, loop: LoopStatus): Promise<void> {
  const { host } = options;
  if (!(await isAttached(host, loop))) return;
  const here = (await host.mounts.list()).find((entry) => loopOf(entry) === loop.index);
  if (here) throw new Error(`it is still mounted at ${here.mountPoint}`);
  const elsewhere = mountedElsewhere(loop.index);
  if (elsewhere !== undefined) throw new Error(`it is ${elsewhere}; end that container or process first`);
  await host.loops.detach(loop.index);
  if (await isGone(options, loop)) return;
  // A freeze outlives every mount of its filesystem, and holds the device.
  await thawOutOfReach(host, loop);
  if (await isGone(options, loop)) return;
  throw new Error(
    `something uses it; \`fuser -v ${loop.path}\` tells which process has it open; it goes with the last of them`,
  );
}

/** By what is behind it: the number may be another's by now. */
async function isAttached(host: Host, { index, backing }: LoopStatus): Promise<boolean> {
  const now = (await host.loops.status(index))?.backing;
  return now !== undefined && now.inode === backing.inode && now.path === backing.path;
}

async function isGone({ host, clock }: ReapOptions, loop: LoopStatus): Promise<boolean> {
  const deadline = clock.monotonic() + PATIENCE_MS;
  while (await isAttached(host, loop)) {
    if (clock.monotonic() > deadline) return false;
    await clock.sleep(POLL_MS);
  }
  return true;
}

async function thawOutOfReach(host: Host, { path: source }: LoopStatus): Promise<void> {
  const found = await host.filesystems.probe(source).catch(() => undefined);
  const fsType = FS_TYPES.find((type) => found?.kind === 'filesystem' && found.fsType === type);
  if (fsType === undefined) return;
  const target = mkdtempSync(path.join(tmpdir(), 'fake-csi-reap-'));
  try {
    // As it is mounted already where it is frozen: another way is refused (EBUSY).
    await host.mounts.mount({ fsType, source, target, readOnly: false, options: [] });
    try {
      await host.mounts.thaw(target);
    } finally {
      await host.mounts.unmount(target);
    }
  } catch {
    // Not frozen, or gone meanwhile: whether the device is let go is what counts.
  } finally {
    rmdirSync(target);
  }
}

function socketsOf({ layout, root }: DataFolder): Promise<string[]> {
  return stale([path.join(root, 'csi', 'csi.sock'), path.join(layout.control, 'control.sock')]);
}

/** Volumes, snapshots and what nodes knew of them. Scenarios are a person's, and the journal is what tells of it all. */
async function dataOf({ layout }: DataFolder): Promise<string[]> {
  const folders = [layout.volumes, layout.snapshots, layout.groups, layout.nodes, layout.undo];
  const there = await Promise.all(folders.map((folder) => fs.lstat(folder).catch(() => undefined)));
  return folders.filter((_, index) => there[index]?.isDirectory());
}

async function deleteData(host: Host, folder: DataFolder, before: readonly Step[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const place of await dataOf(folder))
    steps.push(
      await attempt('remove', place, async () => {
        if (before.some(({ done }) => !done))
          throw new Error('not while something of the folder is in use, see above');
        // Whosever it is: what is mounted there is not the folder's.
        const inside = (await host.mounts.list()).find(({ mountPoint }) =>
          `${mountPoint}/`.startsWith(`${place}/`),
        );
        if (inside)
          throw new Error(`${inside.mountPoint} (${inside.source}) is mounted in it; unmount that first`);
        await removeFolder(place);
      }),
    );
  return steps;
}
