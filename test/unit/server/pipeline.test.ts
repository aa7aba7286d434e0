import { Code, CsiError, failedPrecondition } from '../../../src/csi/status';
import { createMemoryHost } from '../../../src/host/memory';
import type { AnsweredEntry, JournalEntry } from '../../../src/journal/entry';
import { type FaultGate, noFaults } from '../../../src/server/gate';
import { TestDriver } from '../../support/driver';
import { createVolume, MIB, mountCapability, stage } from '../../support/lifecycle';

let driver: TestDriver;
afterEach(() => driver.close());

async function start(faults: Partial<FaultGate> = {}, capabilities = 'all'): Promise<TestDriver> {
  driver = await TestDriver.start({
    backend: 'memory',
    host: createMemoryHost(),
    capabilities,
    faults: { ...noFaults, ...faults },
  });
  return driver;
}

const answers = (entries: JournalEntry[]) =>
  entries.filter((entry): entry is AnsweredEntry => entry.type === 'answered');

describe('the way of a call', () => {
  it('passes the gate before it is validated, and holds no lock there', async () => {
    const seen: string[] = [];
    await start({
      before: async ({ method }) => {
        seen.push(`${method}: ${driver.driver.locks.list().length} locks`);
        return undefined;
      },
    });
    await expect(driver.csi.CreateVolume({})).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
    expect(seen).toEqual(['CreateVolume: 0 locks']);
  });

  it('says UNIMPLEMENTED before it says what else is wrong', async () => {
    await start({}, '-LIST_VOLUMES');
    await expect(driver.csi.ListVolumes({ max_entries: -1 })).rejects.toMatchObject({
      code: Code.UNIMPLEMENTED,
    });
  });

  it('answers with what the gate gives in place of the work', async () => {
    await start({
      before: async ({ method }) => (method === 'NodeStageVolume' ? ({} as never) : undefined),
    });
    const id = await createVolume(driver);
    const used = await stage(driver, id);
    const stats = driver.csi.NodeGetVolumeStats({ volume_id: id, volume_path: used.staging });
    await expect(stats).rejects.toMatchObject({ code: Code.NOT_FOUND });
  });

  it('does the work of a call whose answer is then lost, and finds it done at the retry', async () => {
    let lost = 0;
    await start({
      after: async (call, response) => {
        if (call.method === 'CreateVolume' && lost++ === 0)
          throw new CsiError(Code.DEADLINE_EXCEEDED, 'the answer is lost');
        return response;
      },
    });
    const request = {
      name: 'once',
      volume_capabilities: [mountCapability()],
      capacity_range: { required_bytes: 64 * MIB },
    };
    await expect(driver.csi.CreateVolume(request)).rejects.toMatchObject({ code: Code.DEADLINE_EXCEEDED });
    const { volume } = await driver.csi.CreateVolume(request);
    const { entries } = await driver.csi.ListVolumes();
    expect(entries.map((entry) => entry.volume?.volume_id)).toEqual([volume?.volume_id]);
  });

  it('refuses a second call on a volume while the first is under way, and says which that is', async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await start({
      point: async ({ method }, name) => {
        if (method === 'NodeStageVolume' && name === 'beforeAttach') await held;
      },
    });
    const id = await createVolume(driver);
    const first = stage(driver, id);
    await driver.driver.journal.waitFor(
      (entry) => entry.type === 'received' && entry.method === 'NodeStageVolume',
    );
    await expect(stage(driver, id)).rejects.toMatchObject({
      code: Code.ABORTED,
      message: expect.stringMatching(/NodeStageVolume \(call \d+\), for \d/),
    });
    go();
    await first;
    await stage(driver, id);
  });

  it('hangs a hundred calls without delaying another volume', async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await start({
      before: async ({ method, request }) => {
        if (method === 'CreateVolume' && (request as { name: string }).name.startsWith('hung')) await held;
        return undefined;
      },
    });
    const hung = Array.from({ length: 100 }, (_, i) => createVolume(driver, { name: `hung-${i}` }));
    await driver.driver.journal.waitFor((entry) => entry.type === 'received' && entry.call === 100);
    await createVolume(driver, { name: 'fast' });
    go();
    expect(new Set(await Promise.all(hung)).size).toBe(100);
  });

  it('turns whatever a gate throws into a status, and serves on', async () => {
    await start({
      point: async () => {
        throw new TypeError('a bug');
      },
    });
    await expect(createVolume(driver)).rejects.toMatchObject({ code: Code.INTERNAL, message: 'a bug' });
    expect((await driver.csi.Probe()).ready).toEqual({ value: true });
    expect((await driver.csi.ListVolumes()).entries).toEqual([]);
  });

  it('finishes the work of a call whose client has gone, and notes that', async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await start({
      point: async ({ method }) => {
        if (method === 'CreateVolume') await held;
      },
    });
    const request = { name: 'left', volume_capabilities: [mountCapability()] };
    const client = new AbortController();
    const call = driver.csi.CreateVolume(request, { signal: client.signal });
    await driver.driver.journal.waitFor(
      (entry) => entry.type === 'received' && entry.method === 'CreateVolume',
    );
    client.abort();
    await expect(call).rejects.toMatchObject({ code: Code.CANCELLED });
    await driver.csi.Probe();
    go();
    const entry = await driver.driver.journal.waitFor(
      (e) => e.type === 'answered' && e.method === 'CreateVolume',
    );
    expect(entry).toMatchObject({ code: 'OK', abandoned: true });
    expect((await driver.csi.ListVolumes()).entries).toHaveLength(1);
  });

  it('ends a stream with the error that struck in the middle of it', async () => {
    let messages = 0;
    await start({
      after: async (call, response) => {
        if (call.method === 'GetMetadataAllocated' && ++messages === 1) throw failedPrecondition('struck');
        return response;
      },
    });
    const id = await createVolume(driver);
    await stage(driver, id);
    const { snapshot } = await driver.csi.CreateSnapshot({ name: 's', source_volume_id: id });
    const stream = driver.csi.GetMetadataAllocated({
      snapshot_id: snapshot?.snapshot_id ?? '',
      max_results: 1,
    });
    await expect(stream).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION, message: 'struck' });
  });

  it('journals each call with its subject, its effects and how it ended', async () => {
    await start();
    const id = await createVolume(driver);
    await stage(driver, id);
    const staged = answers(driver.driver.journal.entries()).find(
      (entry) => entry.method === 'NodeStageVolume',
    );
    expect(staged).toMatchObject({ volumeId: id, code: 'OK', fired: [] });
    expect(staged?.effects).toEqual([
      'formatted ext4',
      expect.stringMatching(/^attached \/dev\/.*loop\d+$/),
      expect.stringMatching(/^mounted \/dev\/.*loop\d+ \(ext4\) at /),
    ]);
  });
});
