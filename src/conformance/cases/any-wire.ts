import { methods, rpcs } from '../../csi/rpcs';
import type { Answer } from '../answer';
import { casesOf } from '../case';
import { minimal } from '../minimal';
import { listed } from './list-volumes';

/** Fields 1000 (a varint), 1001 (bytes), 1002 (64 bits) and 1003 (32 bits): CSI has none of these numbers. */
const UNKNOWN_FIELDS = Buffer.from('c03e2aca3e036e6577d13e0102030405060708dd3e01020304', 'hex');

export const anyWire = casesOf('(any)', [
  {
    id: 'T18',
    level: 'allowed',
    section: 'ValidateVolumeCapabilities',
    title: 'fields of unknown numbers, as of a later version: they change nothing',
    run: async (probe) => {
      for (const method of methods.filter((one) => !rpcs[one].serverStreaming && probe.serves(one))) {
        const plain = (await probe.send(method, minimal[method])) as Answer;
        const extended = (await probe.send(method, minimal[method], { extra: UNKNOWN_FIELDS })) as Answer;
        probe.same(extended.code, plain.code, `${method} with fields of unknown numbers:`);
      }
      if (!probe.serves('CreateVolume')) return;
      const answer = await probe.send('CreateVolume', probe.creation(), { extra: UNKNOWN_FIELDS });
      probe.that(answer.code === 'OK', 'OK with fields of unknown numbers', answer.code);
    },
  },
  {
    id: 'T19',
    level: 'must',
    section: 'CapacityRange',
    title: 'sizes of 2^53+1 and 2^60 bytes, where there can be such: exactly these in every answer',
    run: async (probe) => {
      let tried = 0;
      for (const size of [2n ** 53n + 1n, 2n ** 60n]) {
        const capacity_range = { required_bytes: `${size}`, limit_bytes: `${size}` };
        const { code, response } = await probe.call('CreateVolume', probe.creation({ capacity_range }));
        if (code !== 'OK') continue;
        tried += 1;
        const volume_id = response?.volume?.volume_id ?? '';
        probe.same(response?.volume?.capacity_bytes, `${size}`, 'capacity_bytes');
        if (probe.serves('ListVolumes')) {
          const entry = await listed(probe, volume_id);
          probe.same(entry?.volume?.capacity_bytes, `${size}`, 'capacity_bytes in ListVolumes');
        }
        if (probe.serves('ControllerGetVolume')) {
          const { volume } = await probe.ok('ControllerGetVolume', { volume_id });
          probe.same(volume?.capacity_bytes, `${size}`, 'capacity_bytes');
        }
        if (!probe.serves('ControllerExpandVolume')) continue;
        const grown = await probe.ok('ControllerExpandVolume', {
          volume_id,
          capacity_range: { required_bytes: `${size + 2n}`, limit_bytes: `${size + 2n}` },
        });
        probe.same(grown.capacity_bytes, `${size + 2n}`, 'capacity_bytes');
      }
      if (tried === 0) probe.skip('no volume can be so large');
    },
  },
]);
