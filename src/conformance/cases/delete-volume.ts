import { casesOf } from '../case';
import type { MadeVolume, Probe } from '../probe';

const isThere = (probe: Probe, volume: MadeVolume) =>
  probe.ok(
    'ValidateVolumeCapabilities',
    { volume_id: volume.id, volume_capabilities: [volume.capability] },
    'the volume that could not be deleted is there',
  );

export const deleteVolume = casesOf('Controller.DeleteVolume', [
  {
    id: 'D01',
    level: 'must',
    section: 'DeleteVolume Errors',
    needs: ['controller.PUBLISH_UNPUBLISH_VOLUME'],
    title: 'a volume that is attached: FAILED_PRECONDITION, and it is still there; OK once it is detached',
    run: async (probe) => {
      const volume = await probe.volume();
      await probe.attach(volume);
      await probe.refused('DeleteVolume', { volume_id: volume.id }, 'FAILED_PRECONDITION');
      await isThere(probe, volume);
      await probe.detach(volume);
      await probe.ok('DeleteVolume', { volume_id: volume.id });
    },
  },
  {
    id: 'D02',
    level: 'must',
    section: 'DeleteVolume Errors',
    needs: ['no controller.PUBLISH_UNPUBLISH_VOLUME'],
    title: 'a volume that is staged or published, where nothing is attached: FAILED_PRECONDITION',
    run: async (probe) => {
      const staged = await probe.stage(await probe.volume());
      const refused = () => probe.refused('DeleteVolume', { volume_id: staged.id }, 'FAILED_PRECONDITION');
      if (staged.staging !== '') await refused();
      await probe.publish(staged);
      await refused();
      await isThere(probe, staged);
    },
  },
  {
    id: 'D03',
    level: 'must',
    section: 'DeleteVolume',
    title: 'the same id twice: OK, OK',
    run: async (probe) => {
      const { id } = await probe.volume();
      await probe.ok('DeleteVolume', { volume_id: id });
      await probe.ok('DeleteVolume', { volume_id: id }, 'what is deleted already');
    },
  },
]);
