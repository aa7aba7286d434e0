import type { ClientResponseOf } from '../../csi/rpcs';
import { casesOf } from '../case';

type Usage = ClientResponseOf<'NodeGetVolumeStats'>['usage'][number];

const UNITS = { BYTES: 1, INODES: 2 } as const;

const isSane = ({ available, used, total }: Usage) => {
  const [free, taken, all] = [BigInt(available), BigInt(used), BigInt(total)];
  return free >= 0n && taken >= 0n && all >= 0n && free + taken <= all;
};

export const nodeStats = casesOf('Node.NodeGetVolumeStats', [
  {
    id: 'NG1',
    level: 'must',
    section: 'NodeGetVolumeStatsRequest',
    needs: ['node.STAGE_UNSTAGE_VOLUME'],
    title: 'volume_path is the staging path: OK',
    run: async (probe) => {
      const { id, staging } = await probe.stage(await probe.volume());
      await probe.ok('NodeGetVolumeStats', { volume_id: id, volume_path: staging });
    },
  },
  {
    id: 'NG3',
    level: 'must',
    section: 'NodeGetVolumeStats',
    needs: ['node.VOLUME_CONDITION', 'no node.GET_VOLUME_STATS'],
    title: 'VOLUME_CONDITION without GET_VOLUME_STATS: it is answered, with a condition',
    run: async (probe) => {
      const { id, target } = await probe.published();
      const stats = await probe.ok('NodeGetVolumeStats', { volume_id: id, volume_path: target });
      probe.that((stats.volume_condition?.message ?? '') !== '', 'a condition with a message', stats);
    },
  },
  {
    id: 'NG4',
    level: 'must',
    section: 'VolumeUsage',
    needs: ['node.GET_VOLUME_STATS'],
    title:
      'a mount volume: bytes once, inodes once at most, a total, nothing negative, used and available within it',
    run: async (probe) => {
      const { id, target } = await probe.published();
      const { usage } = await probe.ok('NodeGetVolumeStats', { volume_id: id, volume_path: target });
      const units = usage.map(({ unit }) => unit);
      probe.that(units.filter((unit) => unit === UNITS.BYTES).length === 1, 'one entry of bytes', units);
      probe.that(units.filter((unit) => unit === UNITS.INODES).length <= 1, 'one entry of inodes', units);
      const bytes = usage.find(({ unit }) => unit === UNITS.BYTES);
      probe.that(BigInt(bytes?.total ?? 0) > 0n, 'a total of bytes', usage);
      probe.that(usage.every(isSane), 'nothing negative, and used and available within the total', usage);
    },
  },
  {
    id: 'NG2',
    level: 'must',
    section: 'NodeGetVolumeStats Errors',
    needs: ['node.GET_VOLUME_STATS'],
    title: 'an unknown volume, or a path where the volume is not: NOT_FOUND',
    run: async (probe) => {
      const { id, target } = await probe.published();
      const elsewhere = await probe.scratch.folder();
      for (const [volume_id, volume_path] of [
        ['conformance-unknown-volume', target],
        [id, elsewhere],
      ] as const)
        await probe.refused('NodeGetVolumeStats', { volume_id, volume_path }, 'NOT_FOUND');
    },
  },
]);
