import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import fc from 'fast-check';
import { methods, rpcs } from '../../../src/csi/rpcs';
import { Code } from '../../../src/csi/status';
import { openWire, type Wire } from '../../../src/csi/wire';
import { createMemoryHost } from '../../../src/host/memory';
import { filesOf, logOf } from '../../conformance/confidential-support';
import { minimal } from '../../conformance/requests';
import { dispose, type UsedVolume, use } from '../../support/lifecycle';
import { codec } from '../csi/wire';
import { Victim } from './abuse';
import { onTheWire, type Pools } from './hostile';

jest.setTimeout(120_000);

const SECRET = 'marker-secret-9f3c';
const FLAG = 'marker-flag-41aa';
const SEED = 20_240_608;
const TIMED = { timeoutMs: 30_000 };

const host = createMemoryHost();
const { log, text: logged } = logOf('trace');
let victim: Victim;
let wire: Wire;
let used: UsedVolume;
let pools: Pools;
const answers: string[] = [];
const codes = new Set<string>();

beforeAll(async () => {
  victim = await Victim.start({ host, log });
  wire = openWire(victim.socket);
  const { driver } = victim;
  used = await use(driver, { name: 'used' });
  const { snapshot } = await driver.csi.CreateSnapshot({ name: 's', source_volume_id: used.id });
  const at = (name: string) => path.join(driver.dir, 'pods', name);
  await fs.writeFile(at('file'), 'theirs');
  await fs.mkdir(at('full'));
  await fs.writeFile(path.join(at('full'), 'theirs'), 'theirs');
  await fs.mkdir(at('elsewhere'));
  await fs.symlink('elsewhere', at('link'));
  await fs.symlink('nowhere', at('dangling'));
  spawnSync('mkfifo', [at('fifo')]);
  await fs.mkdir(at('foreign'));
  await host.mounts.mount({
    fsType: 'tmpfs',
    source: 'theirs',
    target: at('foreign'),
    readOnly: false,
    options: [],
  });
  await wire.send(rpcs.Probe.path, Buffer.alloc(0), TIMED);
  victim.countAnew();
  pools = {
    secret: SECRET,
    flag: FLAG,
    ids: [
      used.id,
      used.id,
      snapshot?.snapshot_id ?? '',
      'unknown',
      '__proto__',
      `${at('file')}`,
      '../volume.json',
    ],
    paths: [
      used.staging,
      used.target,
      await driver.folder('other-staging'),
      ...['new', 'file', 'full', 'link', 'dangling', 'fifo', 'foreign'].map(at),
      ...[
        'link/below',
        'file/below',
        'missing/below',
        'fifo/below',
        '../pods/up',
        './new',
        'n'.repeat(255),
        'n'.repeat(256),
      ].map((name) => `${driver.dir}/pods/${name}`),
      `${driver.dir}/pods${'/deep'.repeat(900)}`,
      `${at('new')}/`,
      `${at('zero')}\0cut`,
      `${at('new')}\nline`,
      'relative/path',
      '',
    ],
  };
});
afterAll(() => victim.close());

/** Everything in the test's folder but the data folder and the socket: kind, content, where links lead. */
async function tree(): Promise<string[]> {
  const { dir, dataDir } = victim.driver;
  const found: string[] = [];
  for (const entry of await fs.readdir(dir, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (file === dataDir || file.startsWith(`${dataDir}/`) || entry.isSocket()) continue;
    const kind = entry.isDirectory()
      ? 'folder'
      : entry.isFIFO()
        ? 'fifo'
        : entry.isSymbolicLink()
          ? 'link'
          : 'file';
    const content =
      kind === 'file' ? await fs.readFile(file, 'utf8') : kind === 'link' ? await fs.readlink(file) : '';
    found.push(`${file} ${kind} ${content}`);
  }
  return found.sort();
}

async function send(method: (typeof methods)[number], bytes: Buffer): Promise<void> {
  const { code, message } = await wire.send(rpcs[method].path, bytes, TIMED);
  if (code !== 0) expect(Code[code]).toBeDefined();
  expect(code).not.toBe(Code.DEADLINE_EXCEEDED);
  expect(code).not.toBe(Code.UNAVAILABLE);
  if (code !== 0) expect(message).not.toBe('');
  answers.push(message);
  codes.add(`${method} ${code === 0 ? 'OK' : Code[code]}`);
}

test.each(methods)('%s: bytes by chance, and good ones spoilt, are answered with a code', async (method) => {
  const good = codec(method).requestSerialize(minimal[method]);
  const spoilt = fc
    .tuple(fc.nat(Math.max(0, good.length - 1)), fc.nat(255), fc.boolean())
    .map(([at, byte, cut]) => {
      const bytes = Buffer.from(good);
      if (at < bytes.length) bytes[at] = byte;
      return cut ? bytes.subarray(0, at) : bytes;
    });
  const any = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.oneof(any, spoilt), (bytes) => send(method, bytes)),
    { seed: SEED, numRuns: 8 },
  );
  await victim.serves();
});

/** A request about things that are there. */
function good(method: (typeof methods)[number]): object {
  const [volume_id = '', , snapshot = ''] = pools.ids;
  const [staging = '', target = ''] = pools.paths;
  const about: Record<string, unknown> = {
    volume_id,
    snapshot_id: snapshot,
    base_snapshot_id: snapshot,
    target_snapshot_id: snapshot,
    source_volume_id: volume_id,
    source_volume_ids: [volume_id],
    staging_target_path: staging,
    target_path: target,
    volume_path: target,
  };
  const request = Object.entries(minimal[method]).map(([name, value]) => [name, about[name] ?? value]);
  return Object.fromEntries(request);
}

/** The volume is in use again, whatever the messages before did to it. */
async function useAgain(): Promise<void> {
  const { csi } = victim.driver;
  const capability = {
    volume_capabilities: [used.capability],
    capacity_range: { required_bytes: '67108864' },
  };
  const again = [
    () => csi.CreateVolume({ name: 'used', ...capability }),
    () => csi.ControllerPublishVolume(good('ControllerPublishVolume')),
    () => csi.NodeStageVolume(good('NodeStageVolume')),
    () => csi.NodePublishVolume(good('NodePublishVolume')),
  ];
  // What is so already may be so in another way, and is refused.
  for (const step of again) await step().catch(() => undefined);
}

test.each(methods)('%s: messages of odd values touch nothing but what they name', async (method) => {
  await useAgain();
  const before = await tree();
  await fc.assert(
    fc.asyncProperty(onTheWire(method, pools, good(method)), (bytes) => send(method, bytes)),
    { seed: SEED, numRuns: 20 },
  );
  const given = new Set(pools.paths.map((one) => path.resolve(one)));
  const changed = (await tree()).filter((entry) => !before.includes(entry));
  // A target may come into being; what others have there stays as it is.
  expect(
    changed.filter((entry) => !given.has(entry.slice(0, entry.lastIndexOf(' ', entry.length - 2)))),
  ).toEqual([]);
  const theirs = before.filter((entry) => / (fifo|link|file theirs)/.test(entry));
  expect((await tree()).filter((entry) => theirs.includes(entry))).toEqual(theirs);
  for (const { mountPoint } of await host.mounts.list())
    if (mountPoint.startsWith(victim.driver.dir) && !mountPoint.startsWith(`${victim.driver.dataDir}/`))
      expect(given).toContain(mountPoint);
  await victim.recovers();
});

test('strings of 4 MiB are refused', async () => {
  const name = 'x'.repeat(4 << 20);
  const request = { name, volume_capabilities: [{ mount: {}, access_mode: { mode: 1 } }] };
  const { code } = await wire.send(
    rpcs.CreateVolume.path,
    codec('CreateVolume').requestSerialize(request),
    TIMED,
  );
  expect([Code.RESOURCE_EXHAUSTED, Code.INVALID_ARGUMENT]).toContain(code);
  await victim.recovers();
});

test('after all that nothing in confidence is to be found, and the driver goes on, also when it starts again', async () => {
  const { driver } = victim;
  // They came beyond the rules for fields: things were made, used and removed.
  for (const reached of ['CreateVolume OK', 'NodeUnpublishVolume OK', 'NodeStageVolume OK'])
    expect([...codes]).toContain(reached);
  const said = answers.join('\n');
  expect(said).not.toContain(SECRET);
  const kept = [logged(), JSON.stringify(driver.driver.journal.entries()), await filesOf(driver.dataDir)];
  for (const one of kept) {
    expect(one).not.toContain(SECRET);
    expect(one).not.toContain(FLAG);
  }
  await driver.csi.NodeUnpublishVolume({ volume_id: used.id, target_path: used.target });
  wire.close();
  await driver.stop();
  const again = await Victim.start({ host, log, dataDir: driver.dataDir });
  await again.recovers();
  await dispose(again.driver, await use(again.driver, { name: 'after' }));
  expect(await filesOf(driver.dataDir)).not.toContain(SECRET);
  await again.close();
});
