import { casesOf } from '../case';
import type { Strings } from '../hints';
import type { MadeVolume, Probe } from '../probe';

/** Whether a volume has these, as far as ValidateVolumeCapabilities tells one value from another. */
async function confirms(probe: Probe, volume: MadeVolume, mutable_parameters: Strings): Promise<boolean> {
  const { confirmed } = await probe.ok('ValidateVolumeCapabilities', {
    volume_id: volume.id,
    volume_capabilities: [volume.capability],
    mutable_parameters,
  });
  return confirmed !== null;
}

export const modifyVolume = casesOf('Controller.ControllerModifyVolume', [
  {
    id: 'M01',
    level: 'must',
    section: 'ControllerModifyVolumeRequest',
    title:
      'no mutable_parameters: INVALID_ARGUMENT; of an unknown volume NOT_FOUND comes first, as csi-sanity wants',
    run: async (probe) => {
      const { id } = await probe.volume();
      await probe.refused('ControllerModifyVolume', { volume_id: id }, 'INVALID_ARGUMENT');
      const volume_id = 'conformance-unknown-volume';
      await probe.refused('ControllerModifyVolume', { volume_id }, ['NOT_FOUND', 'INVALID_ARGUMENT']);
    },
  },
  {
    id: 'M03',
    level: 'must',
    section: 'ControllerModifyVolumeRequest',
    needs: ['hint mutableParameters', 'hint modifiedParameters'],
    title: 'keys that are not mentioned stay as they are',
    run: async (probe) => {
      const { mutableParameters = {}, modifiedParameters = {} } = probe.hints;
      const volume = await probe.volume({ mutable_parameters: { ...mutableParameters } });
      const [[key, value] = ['', '']] = Object.entries(modifiedParameters);
      const changed = { ...mutableParameters, [key]: value };
      if (await confirms(probe, volume, changed))
        probe.skip('ValidateVolumeCapabilities confirms any mutable parameters');
      const mutable_parameters = { [key]: value };
      await probe.ok('ControllerModifyVolume', { volume_id: volume.id, mutable_parameters });
      probe.that(
        await confirms(probe, volume, changed),
        'one key changed and the others as before',
        'not so',
      );
    },
  },
  {
    id: 'M04',
    level: 'must',
    section: 'ControllerModifyVolume',
    needs: ['hint mutableParameters'],
    title: 'the same call twice: OK, OK',
    run: async (probe) => {
      const { id } = await probe.volume();
      const request = { volume_id: id, mutable_parameters: { ...probe.hints.mutableParameters } };
      await probe.ok('ControllerModifyVolume', request);
      await probe.ok('ControllerModifyVolume', request, 'what is so already');
    },
  },
]);
