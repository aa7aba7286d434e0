import { createVolume } from '../support/lifecycle';
import { conformance, outcome } from './harness';

let last = 0;
const unique = () => `snapshot-${++last}`;

conformance('GetSnapshot', (bench) => {
  const get = (snapshot_id: string) => bench.csi.GetSnapshot({ snapshot_id });

  test('Z01 an empty id: INVALID_ARGUMENT; an unknown one: NOT_FOUND', async () => {
    expect(await outcome(get(''))).toBe('INVALID_ARGUMENT');
    expect(await outcome(get('unknown'))).toBe('NOT_FOUND');
  });

  test('Z02 a known id: the snapshot as it was made, ready or not; after its deletion NOT_FOUND', async () => {
    const source_volume_id = await createVolume(bench.driver);
    for (const parameters of [{}, { readyAfter: '1h' }]) {
      const { snapshot } = await bench.csi.CreateSnapshot({ name: unique(), source_volume_id, parameters });
      const id = snapshot?.snapshot_id ?? '';
      expect((await get(id)).snapshot).toEqual(snapshot);
      await bench.csi.DeleteSnapshot({ snapshot_id: id });
      expect(await outcome(get(id))).toBe('NOT_FOUND');
    }
  });

  test('the id of a volume is none of a snapshot', async () => {
    expect(await outcome(get(await createVolume(bench.driver)))).toBe('NOT_FOUND');
  });
});
