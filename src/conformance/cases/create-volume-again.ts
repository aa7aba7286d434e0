import type { Case } from '../case';

/** CreateVolume with a name that was used before. */
export const sameNameCases: readonly Omit<Case, 'rpc'>[] = [
  {
    id: 'C15',
    level: 'must',
    section: 'CreateVolume Errors',
    title: 'the same name, limit_bytes below the size of the volume: ALREADY_EXISTS',
    run: async (probe) => {
      const request = probe.creation();
      const { volume } = await probe.ok('CreateVolume', request);
      const capacity_range = { limit_bytes: `${BigInt(volume?.capacity_bytes || probe.size) / 2n}` };
      await probe.refused('CreateVolume', { ...request, capacity_range }, 'ALREADY_EXISTS');
    },
  },
  {
    id: 'C18',
    level: 'decision',
    section: 'CreateVolume',
    needs: ['controller.MODIFY_VOLUME', 'hint mutableParameters', 'hint modifiedParameters'],
    title:
      'the same name, other mutable_parameters: ALREADY_EXISTS (the prose lists it, the table of errors does not)',
    run: async (probe) => {
      const { mutableParameters = {}, modifiedParameters = {} } = probe.hints;
      const request = probe.creation();
      await probe.ok('CreateVolume', { ...request, mutable_parameters: { ...mutableParameters } });
      const mutable_parameters = { ...mutableParameters, ...modifiedParameters };
      await probe.refused('CreateVolume', { ...request, mutable_parameters }, 'ALREADY_EXISTS');
    },
  },
  {
    id: 'C19',
    level: 'must',
    section: 'CreateVolume Errors',
    title: 'the same name, another content source or none: ALREADY_EXISTS',
    run: async (probe) => {
      const byClone = !probe.serves('CreateSnapshot');
      if (byClone && !probe.has('controller.CLONE_VOLUME')) probe.skip('volumes are made from no source');
      const source = async () => {
        const { id } = await probe.volume();
        return byClone
          ? { volume: { volume_id: id } }
          : { snapshot: { snapshot_id: (await probe.snapshot(id)).snapshot_id } };
      };
      const request = probe.creation({ volume_content_source: await source() });
      await probe.ok('CreateVolume', request);
      for (const volume_content_source of [null, await source()])
        await probe.refused('CreateVolume', { ...request, volume_content_source }, 'ALREADY_EXISTS');
    },
  },
  {
    id: 'C21',
    level: 'decision',
    section: 'CreateVolume',
    title: 'the same name and arguments with other secrets: OK, the same volume',
    run: async (probe) => {
      const request = probe.creation();
      const made = await probe.ok('CreateVolume', request);
      const secrets = { ...probe.hints.secrets, conformance: 'another secret' };
      const again = await probe.call('CreateVolume', { ...request, secrets });
      if (again.code === 'UNAUTHENTICATED') probe.skip('other secrets authenticate nobody');
      probe.that(again.code === 'OK', 'OK', again.code);
      probe.same(again.response?.volume?.volume_id, made.volume?.volume_id, 'volume_id');
    },
  },
  {
    id: 'C22',
    level: 'must',
    section: 'CreateVolume',
    title: 'the same name after DeleteVolume: OK, a new volume',
    run: async (probe) => {
      const request = probe.creation();
      const { volume } = await probe.ok('CreateVolume', request);
      await probe.ok('DeleteVolume', { volume_id: volume?.volume_id ?? '' });
      const again = await probe.ok('CreateVolume', request);
      const volume_id = again.volume?.volume_id ?? '';
      // Exists, whatever the id: a driver may derive it from the name.
      await probe.ok('ValidateVolumeCapabilities', {
        volume_id,
        volume_capabilities: request.volume_capabilities,
      });
    },
  },
  {
    id: 'C14',
    level: 'must',
    section: 'CreateVolume',
    title: 'the same request again: OK, the same volume',
    run: async (probe) => {
      const request = probe.creation();
      const { volume } = await probe.ok('CreateVolume', request);
      const again = await probe.ok('CreateVolume', request);
      probe.same(again.volume, volume, 'the volume');
    },
  },
  {
    id: 'C17',
    level: 'must',
    section: 'CreateVolume Errors',
    needs: ['hint ungroupableVolume'],
    title: 'the same name, other parameters: ALREADY_EXISTS',
    run: async (probe) => {
      const request = probe.creation();
      await probe.ok('CreateVolume', request);
      const parameters = probe.parameters(probe.hints.ungroupableVolume);
      await probe.refused('CreateVolume', { ...request, parameters }, 'ALREADY_EXISTS');
    },
  },
];
