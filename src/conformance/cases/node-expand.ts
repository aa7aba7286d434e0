import { casesOf } from '../case';
import type { Probe } from '../probe';

/** A volume in place that its controller has made twice as large, where there is one that does: in use if it may be. */
async function grown(probe: Probe) {
  const made = await probe.volume();
  const required_bytes = `${probe.size * 2n}`;
  const expand = async () => {
    if (probe.serves('ControllerExpandVolume'))
      await probe.ok('ControllerExpandVolume', { volume_id: made.id, capacity_range: { required_bytes } });
  };
  const isOnline = probe.has('plugin.ONLINE');
  if (!isOnline) await expand();
  const volume = await probe.place(made);
  if (isOnline) await expand();
  return {
    volume,
    request: {
      volume_id: volume.id,
      volume_path: volume.path,
      staging_target_path: volume.staging,
      volume_capability: volume.capability,
    },
    required_bytes,
  };
}

export const nodeExpand = casesOf('Node.NodeExpandVolume', [
  {
    id: 'NX1',
    level: 'decision',
    section: 'NodeExpandVolume',
    title: 'a volume that is neither staged nor published at volume_path: refused',
    run: async (probe) => {
      const { id } = await probe.volume();
      const request = { volume_id: id, volume_path: await probe.scratch.folder() };
      await probe.refused('NodeExpandVolume', request, 'any refusal');
    },
  },
  {
    id: 'NX2',
    level: 'must',
    section: 'NodeExpandVolumeRequest',
    title: 'no capacity_range: OK',
    run: async (probe) => {
      await probe.ok('NodeExpandVolume', (await grown(probe)).request);
    },
  },
  {
    id: 'NX3',
    level: 'must',
    section: 'NodeExpandVolume Errors',
    title: 'limit_bytes below the size of the volume: OUT_OF_RANGE',
    run: async (probe) => {
      const { request } = await grown(probe);
      const capacity_range = { limit_bytes: `${probe.size / 2n}` };
      await probe.refused('NodeExpandVolume', { ...request, capacity_range }, 'OUT_OF_RANGE');
    },
  },
  {
    id: 'NX4',
    level: 'should',
    section: 'NodeExpandVolume',
    title: 'again, and for less than there is: OK',
    run: async (probe) => {
      const { request, required_bytes } = await grown(probe);
      for (const bytes of [required_bytes, required_bytes, `${probe.size / 2n}`])
        await probe.ok('NodeExpandVolume', { ...request, capacity_range: { required_bytes: bytes } });
    },
  },
]);
