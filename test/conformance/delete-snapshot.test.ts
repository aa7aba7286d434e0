import { createVolume } from '../support/lifecycle';
import { conformance, outcome } from './harness';

let last = 0;
const unique = () => `snapshot-${++last}`;

conformance('DeleteSnapshot', (bench) => {
  const remove = (snapshot_id: string) => outcome(bench.csi.DeleteSnapshot({ snapshot_id }));
  const cut = async (parameters: Record<string, string> = {}) => {
    const source_volume_id = await createVolume(bench.driver);
    const { snapshot } = await bench.csi.CreateSnapshot({ name: unique(), source_volume_id, parameters });
    return snapshot?.snapshot_id ?? '';
  };

  test('X01 a member of a group snapshot: INVALID_ARGUMENT, and it is intact', async () => {
    const { group_snapshot } = await bench.csi.CreateVolumeGroupSnapshot({
      name: unique(),
      source_volume_ids: [await createVolume(bench.driver)],
    });
    const snapshot_id = group_snapshot?.snapshots[0]?.snapshot_id ?? '';
    expect(await remove(snapshot_id)).toBe('INVALID_ARGUMENT');
    expect(await outcome(bench.csi.GetSnapshot({ snapshot_id }))).toBe('OK');
  });

  test('X02 in use by a restored volume (dependent): FAILED_PRECONDITION until that is deleted', async () => {
    const snapshot_id = await cut({ dependent: 'true' });
    const volume_id = await createVolume(bench.driver, { source: { snapshot: { snapshot_id } } });
    expect(await remove(snapshot_id)).toBe('FAILED_PRECONDITION');
    expect(await outcome(bench.csi.GetSnapshot({ snapshot_id }))).toBe('OK');
    await bench.csi.DeleteVolume({ volume_id });
    expect(await remove(snapshot_id)).toBe('OK');
  });

  test('X02 restored from, not dependent: OK, the volume stays', async () => {
    const snapshot_id = await cut();
    const volume_id = await createVolume(bench.driver, { source: { snapshot: { snapshot_id } } });
    expect(await remove(snapshot_id)).toBe('OK');
    expect(await outcome(bench.csi.ControllerGetVolume({ volume_id }))).toBe('OK');
  });

  test('X03 twice, and an unknown id: OK each; no id: INVALID_ARGUMENT', async () => {
    const id = await cut();
    expect([await remove(id), await remove(id), await remove('unknown')]).toEqual(['OK', 'OK', 'OK']);
    expect(await remove('')).toBe('INVALID_ARGUMENT');
  });

  test('X04 a snapshot that is not ready yet can be deleted', async () => {
    expect(await remove(await cut({ readyAfter: '1h' }))).toBe('OK');
  });
});
