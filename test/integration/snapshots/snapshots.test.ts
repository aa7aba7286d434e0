import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { Code } from '../../../src/csi/status';
import { keyOf } from '../../../src/util/keys';
import type { TestDriver } from '../../support/driver';
import { TestGate } from '../../support/gate';
import { ALL_KINDS, KINDS, type Kind, readMark, writeMark } from '../../support/kinds';
import {
  createVolume,
  dispose,
  MIB,
  mountCapability,
  publish,
  stage,
  type UsedVolume,
  use,
} from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { run } from '../../support/run';

const machine = useMachine();
const gate = new TestGate();
let driver: TestDriver;
beforeAll(async () => {
  driver = await machine.start({ faults: gate });
});
afterEach(() => gate.clear());

const snapshotDisk = (id: string) => path.join(driver.dataDir, 'snapshots', keyOf(id), 'disk.img');
const volumeDisk = (id: string) => path.join(driver.dataDir, 'volumes', keyOf(id), 'disk.img');
let names = 0;

async function snapshot(of: UsedVolume, on = driver): Promise<string> {
  const { snapshot: made } = await on.csi.CreateSnapshot({
    source_volume_id: of.id,
    name: `snapshot-${names++}`,
  });
  return made?.snapshot_id ?? '';
}

async function restored(kind: Kind, snapshotId: string, size = kind.size, on = driver): Promise<UsedVolume> {
  return use(on, { ...kind.options(), size, source: { snapshot: { snapshot_id: snapshotId } } });
}

/** A process that writes and syncs all the time, until told to end. */
class Writer {
  private constructor(private readonly child: ReturnType<typeof spawn>) {}

  static async start(script: string, ...args: string[]): Promise<Writer> {
    const child = spawn('bash', ['-c', script, 'writer', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return new Writer(child);
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

describe.each(ALL_KINDS)('a $name volume in use', (kind) => {
  it('is snapshot, restored beside itself and cloned, each with the data of its instant', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'one');
    const first = await snapshot(used);
    await writeMark(kind, used, 'two');
    const clone = await use(driver, { ...kind.options(), source: { volume: { volume_id: used.id } } });
    await writeMark(kind, used, 'three');
    const copy = await restored(kind, first);
    const second = await restored(kind, first);
    expect(await readMark(kind, used)).toBe('three');
    expect(await readMark(kind, clone)).toBe('two');
    expect(await readMark(kind, copy)).toBe('one');
    await writeMark(kind, copy, 'four');
    expect(await readMark(kind, second)).toBe('one');
    expect(await readMark(kind, used)).toBe('three');
    for (const each of [second, copy, clone, used]) await dispose(driver, each);
    await driver.csi.DeleteSnapshot({ snapshot_id: first });
    expect(machine.loops(driver.dataDir)).toEqual([]);
  });

  it('outlives its source, and a copy outlives its snapshot', async () => {
    const used = await use(driver, kind.options());
    await writeMark(kind, used, 'inherited');
    const id = await snapshot(used);
    await dispose(driver, used);
    const copy = await restored(kind, id);
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
    expect(await readMark(kind, copy)).toBe('inherited');
    await driver.csi.NodeUnpublishVolume({ volume_id: copy.id, target_path: copy.target });
    await driver.csi.NodeUnstageVolume({ volume_id: copy.id, staging_target_path: copy.staging });
    const again = await stage(driver, copy.id, { capability: copy.capability });
    await publish(driver, again);
    expect(await readMark(kind, again)).toBe('inherited');
    await dispose(driver, again);
  });
});

it('copies are as sparse as what they are copies of', async () => {
  const size = 2048 * MIB;
  const used = await use(driver, { ...KINDS.ext4.options(), size });
  await fs.writeFile(path.join(used.target, 'file'), Buffer.alloc(3 * MIB, 7));
  machine.run('sync', '-f', used.target);
  const id = await snapshot(used);
  const copy = await restored(KINDS.ext4, id, size);
  const blocks = async (file: string) => (await fs.stat(file)).blocks * 512;
  const original = await blocks(volumeDisk(used.id));
  expect(original).toBeLessThan(200 * MIB);
  for (const file of [snapshotDisk(id), volumeDisk(copy.id)])
    expect(await blocks(file)).toBeLessThanOrEqual(original * 1.1 + MIB);
  expect((await fs.stat(snapshotDisk(id))).size).toBe(size);
  await dispose(driver, copy);
  await dispose(driver, used);
  await driver.csi.DeleteSnapshot({ snapshot_id: id });
});

it('the filesystem of the source wins over a default of the provisioner', async () => {
  const used = await use(driver, KINDS.xfs.options());
  await writeMark(KINDS.xfs, used, 'xfs it is');
  const id = await snapshot(used);
  const options = { capability: mountCapability({ fsType: 'ext4' }), size: KINDS.xfs.size };
  for (const source of [{ snapshot: { snapshot_id: id } }, { volume: { volume_id: used.id } }]) {
    const copy = await use(driver, { ...options, source });
    expect((await machine.mountsAt(copy.target))[0]?.fsType).toBe('xfs');
    expect(await readMark(KINDS.xfs, copy)).toBe('xfs it is');
    await dispose(driver, copy);
  }
  await dispose(driver, used);
  await driver.csi.DeleteSnapshot({ snapshot_id: id });
});

it('a snapshot of an ext4 that is being written needs no recovery, and is clean', async () => {
  const used = await use(driver, KINDS.ext4.options());
  const writer = await Writer.start(
    'cd "$1"; echo go; while :; do for i in 1 2 3 4 5 6 7 8; do echo $RANDOM$RANDOM > f$i; mkdir d$i; rmdir d$i; done; sync -f .; done',
    used.target,
  );
  const ids: string[] = [];
  try {
    for (let round = 0; round < 4; round++) ids.push(await snapshot(used));
  } finally {
    await writer.end();
  }
  for (const id of ids) {
    expect(run('dumpe2fs', '-h', snapshotDisk(id))).not.toContain('needs_recovery');
    run('e2fsck', '-fn', snapshotDisk(id));
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
  }
  await dispose(driver, used);
});

describe('a group snapshot', () => {
  /** `counter` first goes to A, then to B: at no instant is B ahead of A. */
  const COUNT =
    'echo go; for ((n = 1; ; n++)); do printf "%d\\n" $n > "$1/new"; mv "$1/new" "$1/count"; sync -f "$1"; ' +
    'printf "%d\\n" $n > "$2/new"; mv "$2/new" "$2/count"; sync -f "$2"; done';

  it.each([
    [KINDS.ext4, KINDS.ext4],
    [KINDS.ext4, KINDS.xfs],
    [KINDS.btrfs, KINDS.xfs],
  ])('of $0.name and $1.name cuts both at one instant while they are written', async (kindA, kindB) => {
    const [a, b] = [await use(driver, kindA.options()), await use(driver, kindB.options())];
    const writer = await Writer.start(COUNT, a.target, b.target);
    const groups: { id: string; members: string[] }[] = [];
    try {
      for (let round = 0; round < 3; round++) {
        const { group_snapshot: made } = await driver.csi.CreateVolumeGroupSnapshot({
          name: `group-${names++}`,
          source_volume_ids: [a.id, b.id],
        });
        groups.push({
          id: made?.group_snapshot_id ?? '',
          members: [a.id, b.id].map(
            (id) => made?.snapshots.find((member) => member.source_volume_id === id)?.snapshot_id ?? '',
          ),
        });
      }
    } finally {
      await writer.end();
    }
    for (const { id, members } of groups) {
      const copies = [await restored(kindA, members[0] ?? ''), await restored(kindB, members[1] ?? '')];
      const counts = await Promise.all(
        copies.map(async ({ target }) =>
          Number(await fs.readFile(path.join(target, 'count'), 'utf8').catch(() => '0')),
        ),
      );
      expect([0, 1]).toContain((counts[0] ?? 0) - (counts[1] ?? 0));
      for (const copy of copies) await dispose(driver, copy);
      await driver.csi.DeleteVolumeGroupSnapshot({ group_snapshot_id: id, snapshot_ids: members });
    }
    await dispose(driver, a);
    await dispose(driver, b);
  });

  it('is refused for what cannot be cut at one instant, and leaves nothing behind', async () => {
    const ext4 = await use(driver, KINDS.ext4.options());
    for (const kind of [KINDS.block, KINDS.tmpfs, KINDS.directory]) {
      const other = await use(driver, kind.options());
      await expect(
        driver.csi.CreateVolumeGroupSnapshot({
          name: `no-${kind.name}`,
          source_volume_ids: [ext4.id, other.id],
        }),
      ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION, message: expect.stringContaining(other.id) });
      expect(await fs.readdir(path.join(driver.dataDir, 'snapshots'))).toEqual([]);
      await writeMark(KINDS.ext4, ext4, `not frozen after ${kind.name}`);
      await driver.csi.NodeUnpublishVolume({ volume_id: other.id, target_path: other.target });
      await driver.csi.NodeUnstageVolume({ volume_id: other.id, staging_target_path: other.staging });
      const { group_snapshot: made } = await driver.csi.CreateVolumeGroupSnapshot({
        name: `still-${kind.name}`,
        source_volume_ids: [ext4.id, other.id],
      });
      await driver.csi.DeleteVolumeGroupSnapshot({
        group_snapshot_id: made?.group_snapshot_id ?? '',
        snapshot_ids: made?.snapshots.map((member) => member.snapshot_id ?? '') ?? [],
      });
      await driver.csi.ControllerUnpublishVolume({ volume_id: other.id });
      await driver.csi.DeleteVolume({ volume_id: other.id });
    }
    await dispose(driver, ext4);
  });
});

it('a copy that takes its time holds up the writers of its own volume only, and ends the freeze when it fails', async () => {
  let proceed: () => void = () => undefined;
  let fail = false;
  const { disks } = machine.host;
  let arrived: () => void = () => undefined;
  const host = {
    ...machine.host,
    disks: {
      ...disks,
      copySparse: async (from: string, to: string, signal?: AbortSignal) => {
        arrived();
        await new Promise<void>((resolve) => {
          proceed = resolve;
        });
        if (fail) throw new Error('the copy failed');
        await disks.copySparse(from, to, signal);
      },
    },
  };
  const own = await machine.start({ host });
  const used = await use(own, KINDS.ext4.options());
  for (fail of [false, true]) {
    const copying = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const cut = snapshot(used, own);
    await copying;
    let written = false;
    const write = writeMark(KINDS.ext4, used, 'after').then(() => {
      written = true;
    });
    const other = await use(own, KINDS.ext4.options());
    await writeMark(KINDS.ext4, other, 'at once');
    await dispose(own, other);
    expect(written).toBe(false);
    proceed();
    if (fail) await expect(cut).rejects.toMatchObject({ message: 'the copy failed' });
    else await own.csi.DeleteSnapshot({ snapshot_id: await cut });
    await write;
  }
  expect(await fs.readdir(path.join(own.dataDir, 'nodes/node-1/undo'))).toEqual([]);
  await dispose(own, used);
});

it('two snapshots of one volume at once are both of a still disk', async () => {
  const used = await use(driver, KINDS.ext4.options());
  const writer = await Writer.start(
    'cd "$1"; echo go; while :; do echo $RANDOM > f; mkdir d; rmdir d; sync -f .; done',
    used.target,
  );
  let ids: string[] = [];
  try {
    ids = await Promise.all(Array.from({ length: 5 }, () => snapshot(used)));
  } finally {
    await writer.end();
  }
  for (const id of ids) {
    expect(run('dumpe2fs', '-h', snapshotDisk(id))).not.toContain('needs_recovery');
    run('e2fsck', '-fn', snapshotDisk(id));
    await driver.csi.DeleteSnapshot({ snapshot_id: id });
  }
  await dispose(driver, used);
});

it('a volume whose stage was unmounted is frozen at its target', async () => {
  const used = await use(driver, KINDS.ext4.options());
  await writeMark(KINDS.ext4, used, 'through the target');
  machine.run('umount', used.staging);
  const id = await snapshot(used);
  expect(run('dumpe2fs', '-h', snapshotDisk(id))).not.toContain('needs_recovery');
  await dispose(driver, used);
  await driver.csi.DeleteSnapshot({ snapshot_id: id });
});

describe('a volume in use by another node', () => {
  it.each([KINDS.ext4, KINDS.xfs, KINDS.btrfs])('of this machine is held still too: $name', async (kind) => {
    const two = await machine.start({ dataDir: driver.dataDir, nodeId: 'node-2', profile: 'node' });
    const id = await createVolume(driver, kind.options());
    const { publish_context: publishContext } = await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id: 'node-2',
      volume_capability: kind.options().capability ?? null,
    });
    const used: UsedVolume = {
      id,
      staging: await two.folder(`${id}-staging`),
      target: await two.target(id),
      publishContext,
      capability: kind.options().capability ?? {},
    };
    await two.csi.NodeStageVolume({
      volume_id: id,
      publish_context: publishContext,
      staging_target_path: used.staging,
      volume_capability: used.capability,
    });
    await publish(two, used);
    await writeMark(kind, used, 'of node 2');
    const taken = await snapshot(used);
    if (kind.name === 'ext4')
      expect(run('dumpe2fs', '-h', snapshotDisk(taken))).not.toContain('needs_recovery');
    const copy = await restored(kind, taken);
    expect(await readMark(kind, copy)).toBe('of node 2');
    await dispose(driver, copy);
    await writeMark(kind, used, 'goes on');
    expect(await fs.readdir(path.join(driver.dataDir, 'nodes/node-1/undo'))).toEqual([]);
    await two.csi.NodeUnpublishVolume({ volume_id: id, target_path: used.target });
    await two.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: used.staging });
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await driver.csi.DeleteVolume({ volume_id: id });
    await driver.csi.DeleteSnapshot({ snapshot_id: taken });
    await two.stop();
  });

  it('is refused where its bytes are out of reach', async () => {
    const kind = KINDS.tmpfs;
    const two = await machine.start({ dataDir: driver.dataDir, nodeId: 'node-2', profile: 'node' });
    const id = await createVolume(driver, kind.options());
    await driver.csi.ControllerPublishVolume({
      volume_id: id,
      node_id: 'node-2',
      volume_capability: kind.options().capability ?? null,
    });
    const staging = await two.folder(`${id}-staging`);
    await two.csi.NodeStageVolume({
      volume_id: id,
      staging_target_path: staging,
      volume_capability: kind.options().capability ?? null,
    });
    await expect(
      driver.csi.CreateSnapshot({ source_volume_id: id, name: 'out-of-reach' }),
    ).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION, message: expect.stringContaining('node-2') });
    await two.csi.NodeUnstageVolume({ volume_id: id, staging_target_path: staging });
    await driver.csi.ControllerUnpublishVolume({ volume_id: id });
    await driver.csi.DeleteVolume({ volume_id: id });
    await two.stop();
    const again = await machine.start({ dataDir: driver.dataDir, nodeId: 'node-2', profile: 'node' });
    await again.stop();
  });
});

describe('snapshot metadata', () => {
  const BLOCK = 4096;

  type Tuple = { byte_offset: string; size_bytes: string };
  const covered = (tuples: Tuple[]) => {
    const blocks = new Set<number>();
    for (const { byte_offset, size_bytes } of tuples)
      for (let at = Number(byte_offset); at < Number(byte_offset) + Number(size_bytes); at += BLOCK)
        blocks.add(Math.floor(at / BLOCK));
    return blocks;
  };

  it.each([KINDS.ext4, KINDS.block])(
    'of a $name volume names every block that holds data or changed',
    async (kind) => {
      const used = await use(driver, kind.options());
      const write = async (at: number, bytes: Buffer) => {
        const file = kind.block ? used.target : path.join(used.target, 'file');
        const handle = await fs.open(file, kind.block ? 'r+' : 'a+').then(async (opened) => {
          if (kind.block) return opened;
          await opened.close();
          return fs.open(file, 'r+');
        });
        await handle.write(bytes, 0, bytes.length, at);
        await handle.sync();
        await handle.close();
      };
      await write(0, Buffer.alloc(3 * BLOCK, 1));
      await write(5 * MIB, Buffer.alloc(BLOCK, 2));
      const base = await snapshot(used);
      await write(BLOCK, Buffer.alloc(10, 9));
      await write(9 * MIB, Buffer.alloc(70_000, 3));
      const target = await snapshot(used);

      const [before, after] = await Promise.all([base, target].map((id) => fs.readFile(snapshotDisk(id))));
      if (!before || !after) throw new Error('no disks');
      const zero = Buffer.alloc(BLOCK);
      const blockOf = (disk: Buffer, index: number) => disk.subarray(index * BLOCK, (index + 1) * BLOCK);
      const count = after.length / BLOCK;
      const indexes = Array.from({ length: count }, (_, index) => index);
      const changed = indexes.filter((index) => !blockOf(before, index).equals(blockOf(after, index)));
      const filled = indexes.filter((index) => !blockOf(after, index).equals(zero));

      for (const max_results of [0, 1, 7]) {
        const deltas = await driver.csi.GetMetadataDelta({
          base_snapshot_id: base,
          target_snapshot_id: target,
          max_results,
        });
        const tuples = deltas.flatMap((message) => message.block_metadata);
        expect([...covered(tuples)].sort((x, y) => x - y)).toEqual(changed);
        if (max_results > 0)
          for (const message of deltas)
            expect(message.block_metadata.length).toBeLessThanOrEqual(max_results);
        const allocated = covered(
          (await driver.csi.GetMetadataAllocated({ snapshot_id: target, max_results })).flatMap(
            (message) => message.block_metadata,
          ),
        );
        expect(filled.filter((index) => !allocated.has(index))).toEqual([]);
      }
      const from = (changed[1] ?? 0) * BLOCK;
      const rest = await driver.csi.GetMetadataDelta({
        base_snapshot_id: base,
        target_snapshot_id: target,
        starting_offset: `${from}`,
      });
      expect([...covered(rest.flatMap((message) => message.block_metadata))].sort((x, y) => x - y)).toEqual(
        changed.slice(1),
      );
      await dispose(driver, used);
      for (const id of [base, target]) await driver.csi.DeleteSnapshot({ snapshot_id: id });
    },
  );
});
