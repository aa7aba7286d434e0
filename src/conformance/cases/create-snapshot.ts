import { casesOf } from '../case';
import type { Probe } from '../probe';

/** A snapshot becomes ready in this time. */
const READY_MS = 60_000;
const ASK_AGAIN_MS = 250;

/** Asks with the same CreateSnapshot until the snapshot can be used. */
async function untilReady(probe: Probe, request: ReturnType<Probe['cutting']>): Promise<boolean> {
  for (let waited = 0; waited <= READY_MS; waited += ASK_AGAIN_MS) {
    const { snapshot } = await probe.ok('CreateSnapshot', request);
    if (snapshot?.ready_to_use) return true;
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
  return false;
}

export const createSnapshot = casesOf('Controller.CreateSnapshot', [
  {
    id: 'S01',
    level: 'decision',
    section: 'CreateSnapshot',
    title: 'an unknown source_volume_id: NOT_FOUND',
    run: async (probe) => {
      await probe.refused('CreateSnapshot', probe.cutting('conformance-unknown-volume'), 'NOT_FOUND');
    },
  },
  {
    id: 'S03',
    level: 'should',
    section: 'CreateSnapshot',
    needs: ['hint slowSnapshot'],
    title: 'a snapshot that is uploaded after it was cut: ready_to_use false at once, true on a later repeat',
    run: async (probe) => {
      const { id } = await probe.volume();
      const request = probe.cutting(id, probe.hints.slowSnapshot);
      const first = await probe.ok('CreateSnapshot', request);
      probe.same(first.snapshot?.ready_to_use, false, 'ready_to_use');
      probe.that(await untilReady(probe, request), `ready_to_use within ${READY_MS / 1000} s`, 'not ready');
    },
  },
  {
    id: 'S05',
    level: 'must',
    section: 'CreateSnapshotRequest',
    title: 'a name of 129 bytes, or with a control character that names must not have: INVALID_ARGUMENT',
    run: async (probe) => {
      const { id } = await probe.volume();
      for (const name of ['x'.repeat(129), 'a\u0000b', 'a\u0008b', 'a\u001fb', 'a\u007fb', 'a\u009fb'])
        await probe.refused('CreateSnapshot', { ...probe.cutting(id), name }, 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'S06',
    level: 'must',
    section: 'Snapshot',
    title: 'restored with a limit below size_bytes: OUT_OF_RANGE',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { snapshot_id, size_bytes } = await probe.snapshot(id);
      const bytes = BigInt(size_bytes);
      if (bytes < 2n) probe.skip('size_bytes is not told');
      const request = probe.creation({
        volume_content_source: { snapshot: { snapshot_id } },
        capacity_range: { limit_bytes: `${bytes / 2n}` },
      });
      await probe.refused('CreateVolume', request, 'OUT_OF_RANGE');
    },
  },
  {
    id: 'S02',
    level: 'must',
    section: 'CreateSnapshot',
    title: 'the same name and source again: the same snapshot; it has a source, a size and a creation_time',
    run: async (probe) => {
      const { id } = await probe.volume();
      const request = probe.cutting(id);
      const { snapshot } = await probe.ok('CreateSnapshot', request);
      probe.same(snapshot?.source_volume_id, id, 'source_volume_id');
      const seconds = BigInt(snapshot?.creation_time?.seconds ?? 0);
      probe.that(seconds > 0n, 'a creation_time', snapshot);
      const again = await probe.ok('CreateSnapshot', request);
      const identity = (one: typeof snapshot) => [one?.snapshot_id, one?.creation_time];
      probe.same(identity(again.snapshot), identity(snapshot), 'snapshot_id and creation_time');
    },
  },
  {
    id: 'S04',
    level: 'must',
    section: 'CreateSnapshot Errors',
    title: 'the same name, another source: ALREADY_EXISTS',
    run: async (probe) => {
      const request = probe.cutting((await probe.volume()).id);
      await probe.ok('CreateSnapshot', request);
      const source_volume_id = (await probe.volume()).id;
      await probe.refused('CreateSnapshot', { ...request, source_volume_id }, 'ALREADY_EXISTS');
    },
  },
]);
