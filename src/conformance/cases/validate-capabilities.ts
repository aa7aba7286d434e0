import { mount, NO_FILESYSTEM } from '../capability';
import { casesOf } from '../case';
import type { Strings } from '../hints';

export const validateCapabilities = casesOf('Controller.ValidateVolumeCapabilities', [
  {
    id: 'V01',
    level: 'must',
    section: 'ValidateVolumeCapabilities',
    title: 'one unsupported capability, alone or among others: OK, not confirmed, with a message',
    run: async (probe) => {
      const { id } = await probe.volume();
      const unsupported = [
        mount({ fsType: NO_FILESYSTEM }),
        ...(probe.has('controller.SINGLE_NODE_MULTI_WRITER')
          ? []
          : [mount({ mode: 'SINGLE_NODE_MULTI_WRITER' })]),
      ];
      for (const capability of unsupported)
        for (const volume_capabilities of [[capability], [mount(), capability]]) {
          const request = { volume_id: id, volume_capabilities };
          const { confirmed, message } = await probe.ok('ValidateVolumeCapabilities', request);
          probe.that(confirmed === null, 'confirmed to be absent', { confirmed });
          probe.that(message !== '', 'a message that says why', { message });
        }
    },
  },
  {
    id: 'V02',
    level: 'must',
    section: 'ValidateVolumeCapabilities',
    title:
      'all supported: confirmed repeats every one, and contexts and parameters only when they were asked',
    run: async (probe) => {
      const capabilities = [mount(), mount({ mode: 'SINGLE_NODE_READER_ONLY' })];
      const { volume } = await probe.ok(
        'CreateVolume',
        probe.creation({ volume_capabilities: capabilities }),
      );
      const volume_id = volume?.volume_id ?? '';
      const ask = (fields: object) =>
        probe.ok('ValidateVolumeCapabilities', { volume_id, volume_capabilities: capabilities, ...fields });
      const { confirmed } = await ask({});
      probe.that(confirmed !== null, 'the capabilities that the volume was created with to be confirmed', {
        confirmed,
      });
      const modes = (confirmed?.volume_capabilities ?? []).map(({ access_mode }) => access_mode?.mode);
      probe.same([...modes].sort(), [1, 2], 'access modes confirmed:');
      const unasked = { ...confirmed?.volume_context, ...confirmed?.parameters };
      probe.same(unasked, {}, 'context and parameters that were not asked:');
      const volume_context = volume?.volume_context ?? {};
      const second = (await ask({ volume_context })).confirmed;
      probe.that(second !== null, "the volume's own context to be confirmed", { confirmed: second });
      if (Object.keys(second?.volume_context ?? {}).length > 0)
        probe.same(second?.volume_context, volume_context, 'volume_context');
    },
  },
  {
    id: 'V04',
    level: 'decision',
    section: 'ValidateVolumeCapabilities',
    title:
      'a volume_context or parameters that are not those of the volume: not confirmed, or INVALID_ARGUMENT',
    run: async (probe) => {
      const volume = await probe.volume();
      const [key] = Object.keys(volume.context);
      const unsupported = probe.hints.unsupportedParameters;
      if (key === undefined && !unsupported)
        probe.skip('volume_context is empty, and there is no hint unsupportedParameters');
      const changed = (found: string): Strings => ({
        ...volume.context,
        [found]: `${volume.context[found]}-changed`,
      });
      for (const fields of [
        ...(key === undefined ? [] : [{ volume_context: changed(key) }]),
        ...(unsupported ? [{ parameters: probe.parameters(unsupported) }] : []),
      ]) {
        const answer = await probe.call('ValidateVolumeCapabilities', {
          volume_id: volume.id,
          volume_capabilities: [volume.capability],
          ...fields,
        });
        if (answer.code !== 'OK') probe.isRefused(answer, 'INVALID_ARGUMENT');
        else probe.that(answer.response?.confirmed === null, 'confirmed to be absent', answer.response);
      }
    },
  },
  {
    id: 'V03',
    level: 'must',
    section: 'ValidateVolumeCapabilities Errors',
    title: 'an unknown volume: NOT_FOUND; no capability: INVALID_ARGUMENT',
    run: async (probe) => {
      const { id } = await probe.volume();
      const unknown = { volume_id: 'conformance-unknown-volume', volume_capabilities: [mount()] };
      await probe.refused('ValidateVolumeCapabilities', unknown, 'NOT_FOUND');
      await probe.refused('ValidateVolumeCapabilities', { volume_id: id }, 'INVALID_ARGUMENT');
    },
  },
]);
