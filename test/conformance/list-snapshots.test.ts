import { createVolume, MIB } from '../support/lifecycle';
import { conformance, outcome } from './harness';

let last = 0;
const unique = () => `snapshot-${++last}`;

conformance('ListSnapshots', (bench) => {
  const idsOf = ({ entries }: { entries: { snapshot: { snapshot_id: string } | null }[] }) =>
    entries.map((entry) => entry.snapshot?.snapshot_id ?? '');
  const cut = async (source_volume_id: string, parameters: Record<string, string> = {}) => {
    const { snapshot } = await bench.csi.CreateSnapshot({ name: unique(), source_volume_id, parameters });
    return snapshot?.snapshot_id ?? '';
  };

  test('Y01 max_entries -1: INVALID_ARGUMENT, the process alive', async () => {
    expect(await outcome(bench.csi.ListSnapshots({ max_entries: -1 }))).toBe('INVALID_ARGUMENT');
    expect(await outcome(bench.csi.Probe())).toBe('OK');
  });

  test('Y02 pages: each snapshot once, a token while there are more', async () => {
    const source_volume_id = await createVolume(bench.driver, { size: MIB });
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await cut(source_volume_id));
    const found: string[][] = [];
    let starting_token = '';
    do {
      const answer = await bench.csi.ListSnapshots({ source_volume_id, max_entries: 2, starting_token });
      found.push(idsOf(answer));
      starting_token = answer.next_token;
    } while (starting_token !== '');
    expect(found.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(found.flat().sort()).toEqual(ids.sort());
    const exact = await bench.csi.ListSnapshots({ source_volume_id, max_entries: 5 });
    expect(exact.next_token).toBe('');
  });

  test.each(['invalid-token', '7', '7-00000000'])(
    'Y02 the starting_token %s: ABORTED',
    async (starting_token) => {
      expect(await outcome(bench.csi.ListSnapshots({ starting_token }))).toBe('ABORTED');
    },
  );

  test('Y03 the source_volume_id of a deleted volume: its snapshots are still listed', async () => {
    const source_volume_id = await createVolume(bench.driver);
    const id = await cut(source_volume_id);
    await bench.csi.DeleteVolume({ volume_id: source_volume_id });
    expect(idsOf(await bench.csi.ListSnapshots({ source_volume_id }))).toEqual([id]);
    expect(idsOf(await bench.csi.ListSnapshots({ snapshot_id: id }))).toEqual([id]);
  });

  test('Y04 a snapshot_id and a source_volume_id that do not go together: OK, nothing', async () => {
    const one = await createVolume(bench.driver);
    const other = await createVolume(bench.driver);
    const id = await cut(one);
    const list = async (source_volume_id: string) =>
      idsOf(await bench.csi.ListSnapshots({ snapshot_id: id, source_volume_id }));
    expect(await list(other)).toEqual([]);
    expect(await list(one)).toEqual([id]);
    expect(await list('unknown')).toEqual([]);
  });

  test('Y05 a snapshot in processing: listed, ready_to_use false', async () => {
    const id = await cut(await createVolume(bench.driver), { readyAfter: '1h' });
    const { entries } = await bench.csi.ListSnapshots({ snapshot_id: id });
    expect(entries.map((entry) => entry.snapshot?.ready_to_use)).toEqual([false]);
  });

  test('Y06 members of a group snapshot are listed with its id', async () => {
    const source_volume_id = await createVolume(bench.driver);
    const { group_snapshot } = await bench.csi.CreateVolumeGroupSnapshot({
      name: unique(),
      source_volume_ids: [source_volume_id],
    });
    const { entries } = await bench.csi.ListSnapshots({ source_volume_id });
    expect(entries.map((entry) => entry.snapshot?.group_snapshot_id)).toEqual([
      group_snapshot?.group_snapshot_id,
    ]);
  });
});
