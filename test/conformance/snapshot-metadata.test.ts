import * as fs from 'node:fs/promises';
import type { Method, ResponseOf } from '../../src/csi/rpcs';
import { unavailable } from '../../src/csi/status';
import type { GateCall } from '../../src/server/gate';
import { keyOf } from '../../src/util/keys';
import type { TestDriver } from '../support/driver';
import { blockCapability, createVolume, MIB } from '../support/lifecycle';
import { conformance, outcome } from './harness';

const KIB = 1024;
type Tuple = { byte_offset: string; size_bytes: string };
interface Message {
  block_metadata_type: number;
  volume_capacity_bytes: string;
  block_metadata: Tuple[];
}

/** Where the volume's bytes lie; written to directly, as a pod with the raw device would. */
async function write(driver: TestDriver, volumeId: string, offset: number, byte: number, length = 4 * KIB) {
  const disk = `${driver.dataDir}/volumes/${keyOf(volumeId)}/disk.img`;
  const handle = await fs.open(disk, 'r+');
  await handle.write(Buffer.alloc(length, byte), 0, length, offset);
  await handle.close();
}

/** What holds for every stream (CSI 1.12, GetMetadataAllocatedResponse and GetMetadataDeltaResponse). */
function checkStream(messages: Message[], size: number, from = 0) {
  expect(messages.length).toBeGreaterThan(0);
  let end = 0;
  for (const message of messages) {
    expect([message.block_metadata_type, message.volume_capacity_bytes]).toEqual([
      messages[0]?.block_metadata_type,
      `${size}`,
    ]);
    for (const tuple of message.block_metadata) {
      const [offset, length] = [Number(tuple.byte_offset), Number(tuple.size_bytes)];
      expect(length).toBeGreaterThan(0);
      expect(offset).toBeGreaterThanOrEqual(end);
      end = offset + length;
      expect(end).toBeLessThanOrEqual(size);
      expect(end).toBeGreaterThan(from);
    }
  }
  expect([1, 2]).toContain(messages[0]?.block_metadata_type);
}

const tuplesOf = (messages: Message[]) => messages.flatMap((message) => message.block_metadata);
/** Whether some tuple holds the byte at an offset. */
const covers = (messages: Message[], offset: number) =>
  tuplesOf(messages).some(
    (tuple) =>
      Number(tuple.byte_offset) <= offset && offset < Number(tuple.byte_offset) + Number(tuple.size_bytes),
  );

conformance('SnapshotMetadata', (bench) => {
  let volume: string;
  let base: string;
  let target: string;
  const SIZE = 16 * MIB;
  let last = 0;
  const cut = async (source_volume_id: string, parameters: Record<string, string> = {}) => {
    const { snapshot } = await bench.csi.CreateSnapshot({
      name: `m-${++last}`,
      source_volume_id,
      parameters,
    });
    return snapshot?.snapshot_id ?? '';
  };

  beforeAll(async () => {
    volume = await createVolume(bench.driver, { size: SIZE, capability: blockCapability() });
    for (const at of [0, 2, 4, 6, 8]) await write(bench.driver, volume, at * MIB, 0x11);
    base = await cut(volume);
    for (const at of [2, 9]) await write(bench.driver, volume, at * MIB, 0x22);
    target = await cut(volume);
  });

  const allocated = (fields: object) => bench.csi.GetMetadataAllocated({ snapshot_id: base, ...fields });
  const delta = (fields: object = {}) =>
    bench.csi.GetMetadataDelta({ base_snapshot_id: base, target_snapshot_id: target, ...fields });

  test('SM01 an empty snapshot_id, a negative max_results: INVALID_ARGUMENT', async () => {
    expect(await outcome(allocated({ snapshot_id: '' }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(allocated({ max_results: -1 }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(allocated({ snapshot_id: 'unknown', max_results: -1 }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(allocated({ snapshot_id: 'x'.repeat(129) }))).toBe('INVALID_ARGUMENT');
  });

  test('SM02 an unknown snapshot: NOT_FOUND', async () => {
    expect(await outcome(allocated({ snapshot_id: 'unknown' }))).toBe('NOT_FOUND');
  });

  test('SM03 a starting_offset that is negative or beyond the size: OUT_OF_RANGE', async () => {
    expect(await outcome(allocated({ starting_offset: '-1' }))).toBe('OUT_OF_RANGE');
    expect(await outcome(allocated({ starting_offset: `${SIZE + 1}` }))).toBe('OUT_OF_RANGE');
    expect(await outcome(allocated({ starting_offset: `${2n ** 62n}` }))).toBe('OUT_OF_RANGE');
  });

  test('SM04 a starting_offset at the size: OK, no tuples', async () => {
    for (const stream of [
      await allocated({ starting_offset: `${SIZE}` }),
      await delta({ starting_offset: `${SIZE}` }),
    ])
      expect(tuplesOf(stream as Message[])).toEqual([]);
  });

  test.each([1, 2, 3, 1000])('SM05 at most %d tuples in a message', async (max_results) => {
    const streams = [await allocated({ max_results }), await delta({ max_results })] as Message[][];
    for (const messages of streams) {
      checkStream(messages, SIZE);
      for (const message of messages) expect(message.block_metadata.length).toBeLessThanOrEqual(max_results);
    }
    expect(tuplesOf(streams[0] ?? [])).toEqual(tuplesOf((await allocated({})) as Message[]));
  });

  test('SM06 the whole stream: constant type and capacity, ascending tuples, all that was written', async () => {
    const messages = (await allocated({})) as Message[];
    checkStream(messages, SIZE);
    for (const at of [0, 2, 4, 6, 8]) expect(covers(messages, at * MIB)).toBe(true);
    expect(covers(messages, 12 * MIB)).toBe(false);
  });

  test('SM06 a snapshot of nothing, and one of a size that is no whole block', async () => {
    const size = 5 * MIB + 1000;
    const id = await createVolume(bench.driver, { size, capability: blockCapability() });
    checkStream((await allocated({ snapshot_id: await cut(id) })) as Message[], size);
    await write(bench.driver, id, 5 * MIB, 0x33, 1000);
    const messages = (await allocated({ snapshot_id: await cut(id) })) as Message[];
    checkStream(messages, size);
    expect(covers(messages, 5 * MIB + 999)).toBe(true);
  });

  test.each([1, 2 * MIB + 1, 2 * MIB + 4095, 3 * MIB])(
    'SM07 from offset %d: the first tuple ends after it',
    async (offset) => {
      const starting_offset = `${offset}`;
      checkStream((await allocated({ starting_offset })) as Message[], SIZE, offset);
      checkStream((await delta({ starting_offset })) as Message[], SIZE, offset);
    },
  );

  test('SM08 resumed after each message: the same as in one go', async () => {
    const whole = (await allocated({})) as Message[];
    const found: Tuple[] = [];
    let starting_offset = '0';
    for (;;) {
      const [first] = (await allocated({ starting_offset, max_results: 1 })) as Message[];
      const [tuple] = first?.block_metadata ?? [];
      if (!tuple) break;
      found.push(tuple);
      starting_offset = `${BigInt(tuple.byte_offset) + BigInt(tuple.size_bytes)}`;
    }
    expect(found).toEqual(tuplesOf(whole));
  });

  test.each(['GetMetadataAllocated', 'GetMetadataDelta'] as const)(
    'SM09 %s: a failure in mid-stream ends it with an error',
    async (method) => {
      let messages = 0;
      const after = async <M extends Method>(call: GateCall<M>, response: ResponseOf<M>) => {
        if (call.method === method && ++messages > 1) throw unavailable('the array went away half-way');
        return response;
      };
      const driver = await bench.start({
        faults: { before: async () => undefined, after, point: async () => undefined },
      });
      const id = await createVolume(driver, { size: SIZE, capability: blockCapability() });
      const cutNow = async (name: string) =>
        (await driver.csi.CreateSnapshot({ name, source_volume_id: id })).snapshot?.snapshot_id ?? '';
      const first = await cutNow('first');
      for (const at of [0, 4, 8]) await write(driver, id, at * MIB, 0x44);
      const second = await cutNow('second');
      const request = { snapshot_id: second, base_snapshot_id: first, target_snapshot_id: second };
      expect(await outcome(driver.csi[method]({ ...request, max_results: 1 }))).toBe('UNAVAILABLE');
      expect(messages).toBe(2);
    },
  );

  test('SM10 either id empty: INVALID_ARGUMENT; either unknown: NOT_FOUND', async () => {
    expect(await outcome(delta({ base_snapshot_id: '' }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(delta({ target_snapshot_id: '' }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(delta({ max_results: -1 }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(delta({ base_snapshot_id: 'unknown' }))).toBe('NOT_FOUND');
    expect(await outcome(delta({ target_snapshot_id: 'unknown' }))).toBe('NOT_FOUND');
  });

  test('SM10 snapshots of two volumes: INVALID_ARGUMENT', async () => {
    const other = await cut(await createVolume(bench.driver, { size: SIZE }));
    expect(await outcome(delta({ target_snapshot_id: other }))).toBe('INVALID_ARGUMENT');
  });

  test('SM11 changed block tracking off: FAILED_PRECONDITION', async () => {
    const untracked = await cut(volume, { trackBlocks: 'false' });
    expect(await outcome(delta({ target_snapshot_id: untracked }))).toBe('FAILED_PRECONDITION');
    expect(await outcome(delta({ base_snapshot_id: untracked }))).toBe('FAILED_PRECONDITION');
    expect(await outcome(allocated({ snapshot_id: untracked }))).toBe('OK');
  });

  test('SM12 the delta: what changed, and not what did not', async () => {
    const messages = (await delta()) as Message[];
    checkStream(messages, SIZE);
    for (const at of [2, 9]) expect(covers(messages, at * MIB)).toBe(true);
    for (const at of [0, 4, 6, 8, 12]) expect(covers(messages, at * MIB)).toBe(false);
    expect(tuplesOf((await delta({ target_snapshot_id: base })) as Message[])).toEqual([]);
  });

  test('SM12 the delta after the volume grew: over the size of the target', async () => {
    const id = await createVolume(bench.driver, { size: SIZE, capability: blockCapability() });
    const before = await cut(id);
    await bench.csi.ControllerExpandVolume({
      volume_id: id,
      capacity_range: { required_bytes: `${2 * SIZE}` },
    });
    await write(bench.driver, id, SIZE + MIB, 0x55);
    const messages = await delta({ base_snapshot_id: before, target_snapshot_id: await cut(id) });
    checkStream(messages as Message[], 2 * SIZE);
    expect(covers(messages as Message[], SIZE + MIB)).toBe(true);
  });

  test('SM13 a starting_offset that is negative or beyond the size: OUT_OF_RANGE', async () => {
    expect(await outcome(delta({ starting_offset: '-1' }))).toBe('OUT_OF_RANGE');
    expect(await outcome(delta({ starting_offset: `${SIZE + 1}` }))).toBe('OUT_OF_RANGE');
  });

  test('SM14 SNAPSHOT_METADATA_SERVICE is not advertised: both UNIMPLEMENTED', async () => {
    const { csi } = await bench.start({ capabilities: '-SNAPSHOT_METADATA_SERVICE' });
    expect(await outcome(csi.GetMetadataAllocated({ snapshot_id: base }))).toBe('UNIMPLEMENTED');
    expect(await outcome(csi.GetMetadataAllocated())).toBe('UNIMPLEMENTED');
    expect(await outcome(csi.GetMetadataDelta())).toBe('UNIMPLEMENTED');
  });

  test('a snapshot without blocks: FAILED_PRECONDITION', async () => {
    if (!bench.target.real) return;
    const id = await createVolume(bench.driver, { parameters: { backend: 'directory' } });
    const snapshot_id = await cut(id);
    expect(await outcome(allocated({ snapshot_id }))).toBe('FAILED_PRECONDITION');
    expect(await outcome(delta({ base_snapshot_id: snapshot_id, target_snapshot_id: snapshot_id }))).toBe(
      'FAILED_PRECONDITION',
    );
  });
});
