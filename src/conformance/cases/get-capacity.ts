import { mount, NO_FILESYSTEM } from '../capability';
import { casesOf } from '../case';

const INT64_MAX = 2n ** 63n - 1n;

export const getCapacity = casesOf('Controller.GetCapacity', [
  {
    id: 'K02',
    level: 'decision',
    section: 'GetCapacityRequest',
    title: 'a capability or parameters that are not supported: OK, available_capacity 0',
    run: async (probe) => {
      const unsupported = probe.hints.unsupportedParameters;
      for (const request of [
        { volume_capabilities: [mount({ fsType: NO_FILESYSTEM })], parameters: probe.parameters({}) },
        ...(unsupported ? [{ parameters: probe.parameters(unsupported) }] : []),
      ]) {
        const { available_capacity } = await probe.ok('GetCapacity', request);
        probe.same(available_capacity, '0', 'available_capacity');
      }
    },
  },
  {
    id: 'K03',
    level: 'should',
    section: 'GetCapacityResponse',
    title: 'a maximum_volume_size: a volume of that size is not too large, one byte more is OUT_OF_RANGE',
    run: async (probe) => {
      const answer = await probe.ok('GetCapacity', { parameters: probe.parameters({}) });
      const largest = BigInt(answer.maximum_volume_size?.value ?? 0);
      if (largest <= 0n || largest === INT64_MAX) return probe.skip('no maximum_volume_size is told');
      const creation = (bytes: bigint) =>
        probe.creation({ capacity_range: { required_bytes: `${bytes}`, limit_bytes: `${bytes}` } });
      await probe.refused('CreateVolume', creation(largest + 1n), 'OUT_OF_RANGE');
      // Where there is no room for so much, there is nothing to be tried.
      if (BigInt(answer.available_capacity) < largest) return;
      const { code } = await probe.call('CreateVolume', creation(largest));
      probe.that(code === 'OK' || code === 'RESOURCE_EXHAUSTED', 'OK, or no room for it', code);
    },
  },
]);
