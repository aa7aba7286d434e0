import { casesOf } from '../case';
import type { Probe } from '../probe';

const grow = (probe: Probe, volume_id: string) => ({
  volume_id,
  capacity_range: { required_bytes: `${probe.size * 2n}` },
});

export const controllerExpand = casesOf('Controller.ControllerExpandVolume', [
  {
    id: 'E01',
    level: 'must',
    section: 'ControllerExpandVolumeRequest',
    title: 'a volume, and no capacity_range: INVALID_ARGUMENT',
    run: async (probe) => {
      const { id } = await probe.volume();
      await probe.refused('ControllerExpandVolume', { volume_id: id }, 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'E02',
    level: 'must',
    section: 'ControllerExpandVolume Errors',
    title: 'an unknown volume: NOT_FOUND',
    run: async (probe) => {
      await probe.refused('ControllerExpandVolume', grow(probe, 'conformance-unknown-volume'), 'NOT_FOUND');
    },
  },
  {
    id: 'E03',
    level: 'should',
    section: 'ControllerExpandVolume',
    title: 'required_bytes that the volume has already: OK, its size as it is',
    run: async (probe) => {
      const { id, bytes } = await probe.volume();
      for (const required of [probe.size, probe.size / 2n]) {
        const request = { volume_id: id, capacity_range: { required_bytes: `${required}` } };
        const { capacity_bytes } = await probe.ok('ControllerExpandVolume', request);
        const size = BigInt(capacity_bytes);
        if (bytes > 0n) probe.that(size === bytes, `capacity_bytes ${bytes}`, `${size}`);
        else probe.that(size >= required, `capacity_bytes of ${required} or more`, `${size}`);
      }
    },
  },
  {
    id: 'E05',
    level: 'must',
    section: 'ControllerExpandVolume Errors',
    needs: ['plugin.OFFLINE', 'no plugin.ONLINE'],
    title: 'offline expansion only, a volume in use: FAILED_PRECONDITION; OK when it is not',
    run: async (probe) => {
      const published = await probe.published();
      const request = grow(probe, published.id);
      await probe.refused('ControllerExpandVolume', request, 'FAILED_PRECONDITION');
      await probe.unpublish(published);
      await probe.unstage(published);
      await probe.detach(published);
      await probe.ok('ControllerExpandVolume', request, 'the volume is not in use any more');
    },
  },
  {
    id: 'E08',
    level: 'must',
    section: 'ControllerExpandVolume',
    needs: ['no node.EXPAND_VOLUME'],
    title: 'the node has no EXPAND_VOLUME: node_expansion_required is false',
    run: async (probe) => {
      const { id } = await probe.volume();
      const { node_expansion_required } = await probe.ok('ControllerExpandVolume', grow(probe, id));
      probe.same(node_expansion_required, false, 'node_expansion_required');
    },
  },
  {
    id: 'E04',
    level: 'must',
    section: 'ControllerExpandVolume',
    title: 'required_bytes above the size: as much or more, and the same again',
    run: async (probe) => {
      const { id } = await probe.volume();
      const first = await probe.ok('ControllerExpandVolume', grow(probe, id));
      const size = BigInt(first.capacity_bytes);
      probe.that(size >= probe.size * 2n, `capacity_bytes of ${probe.size * 2n} or more`, `${size}`);
      const again = await probe.ok('ControllerExpandVolume', grow(probe, id), 'it has that size already');
      probe.same(again.capacity_bytes, first.capacity_bytes, 'capacity_bytes');
    },
  },
]);
