import type { ClientResponseOf } from '../../csi/rpcs';
import { casesOf } from '../case';
import type { Probe } from '../probe';

type Entry = ClientResponseOf<'ListVolumes'>['entries'][number];

/** The pages of one walk through all volumes. */
async function pages(probe: Probe, max_entries: number): Promise<Entry[][]> {
  const found: Entry[][] = [];
  const tokens = new Set<string>();
  let starting_token = '';
  do {
    const { entries, next_token } = await probe.ok('ListVolumes', { max_entries, starting_token });
    found.push(entries);
    starting_token = next_token;
    probe.that(!tokens.has(next_token), 'a next_token that was not given before', JSON.stringify(next_token));
    tokens.add(next_token);
  } while (starting_token !== '');
  return found;
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ volume }) => volume?.volume_id ?? '');

/** The entry of one volume. */
export async function listed(probe: Probe, id: string): Promise<Entry | undefined> {
  return (await pages(probe, 0)).flat().find(({ volume }) => volume?.volume_id === id);
}

async function volumes(probe: Probe, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await probe.volume()).id);
  return ids;
}

function checkPages(probe: Probe, found: readonly Entry[][], most: number, wanted: readonly string[]): void {
  for (const page of found)
    probe.that(page.length <= most, `${most} entries at most in a page`, `${page.length}`);
  const ids = idsOf(found.flat());
  probe.that(new Set(ids).size === ids.length, 'each volume once', ids);
  const missing = wanted.filter((id) => !ids.includes(id));
  probe.that(missing.length === 0, 'every volume that was there all the time', `all but ${missing}`);
}

export const listVolumes = casesOf('Controller.ListVolumes', [
  {
    id: 'L01',
    level: 'must',
    section: 'ListVolumesRequest',
    title: 'max_entries -1: INVALID_ARGUMENT',
    run: async (probe) => {
      await probe.refused('ListVolumes', { max_entries: -1 }, 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'L02',
    level: 'must',
    section: 'ListVolumes',
    title: '7 volumes by pages of 3: a next_token on all pages but the last, none twice, none missing',
    run: async (probe) => {
      const ids = await volumes(probe, 7);
      const found = await pages(probe, 3);
      probe.that(found.length >= 3, '3 pages or more', `${found.length}`);
      checkPages(probe, found, 3, ids);
    },
  },
  {
    id: 'L03',
    level: 'must',
    section: 'ListVolumes',
    title: 'max_entries equal to the number of volumes: no next_token',
    run: async (probe) => {
      await volumes(probe, 2);
      const max_entries = (await pages(probe, 0)).flat().length;
      const { entries, next_token } = await probe.ok('ListVolumes', { max_entries });
      probe.that(entries.length === max_entries, `${max_entries} entries`, `${entries.length}`);
      probe.that(next_token === '', 'no next_token', JSON.stringify(next_token));
    },
  },
  {
    id: 'L05',
    level: 'allowed',
    section: 'ListVolumes',
    title:
      'the volumes of a page deleted and one made before its next_token is used: OK with none twice, or ABORTED',
    run: async (probe) => {
      const ids = await volumes(probe, 5);
      const first = await probe.ok('ListVolumes', { max_entries: 2 });
      if (first.next_token === '') probe.skip('the driver makes no pages');
      const own = idsOf(first.entries).filter((id) => ids.includes(id));
      for (const volume_id of own) await probe.ok('DeleteVolume', { volume_id });
      await probe.volume();
      const seen = idsOf(first.entries);
      let starting_token = first.next_token;
      while (starting_token !== '') {
        const answer = await probe.call('ListVolumes', { max_entries: 2, starting_token });
        if (answer.code !== 'OK') return probe.isRefused(answer, 'ABORTED');
        const more = idsOf(answer.response?.entries ?? []);
        probe.that(!more.some((id) => seen.includes(id)), 'no volume twice', more);
        seen.push(...more);
        starting_token = answer.response?.next_token ?? '';
      }
    },
  },
  {
    id: 'L06',
    level: 'must',
    section: 'ListVolumesResponse',
    needs: ['controller.LIST_VOLUMES_PUBLISHED_NODES'],
    title: 'the status has the ids of the nodes that a volume is attached to: none before, that one after',
    run: async (probe) => {
      const volume = await probe.volume();
      const nodes = async () => {
        const entry = await listed(probe, volume.id);
        probe.that(entry?.status !== null && entry?.status !== undefined, 'an entry with a status', entry);
        return entry?.status?.published_node_ids;
      };
      probe.same(await nodes(), [], 'published_node_ids');
      await probe.attach(volume);
      probe.same(await nodes(), [probe.nodeId], 'published_node_ids');
      await probe.detach(volume);
      probe.same(await nodes(), [], 'published_node_ids');
    },
  },
  {
    id: 'L04',
    level: 'must',
    section: 'ListVolumes Errors',
    title: 'a starting_token that nobody gave out: ABORTED',
    run: async (probe) => {
      await probe.refused('ListVolumes', { starting_token: 'conformance-no-token' }, 'ABORTED');
    },
  },
]);
