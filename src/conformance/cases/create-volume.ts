import { mount } from '../capability';
import { casesOf } from '../case';
import { sameNameCases } from './create-volume-again';
import { sourceCases } from './create-volume-source';
import { topologyCases } from './create-volume-topology';

const NAMES = ['a\tb', 'a\nb', 'a\rb', '📦 volume', 'e\u0301te\u0301', 'ü'.repeat(64)];

export const createVolume = casesOf('Controller.CreateVolume', [
  {
    id: 'C02',
    level: 'must',
    section: 'CreateVolumeRequest.name',
    title: 'names with TAB, LF, CR, emoji and combining marks, up to 128 bytes: OK',
    run: async (probe) => {
      for (const name of NAMES) {
        const room = 128 - Buffer.byteLength(name);
        const unique = probe.name();
        const fits = Buffer.byteLength(unique) <= room ? `${unique}${name}` : name;
        await probe.ok('CreateVolume', probe.creation({ name: fits }));
      }
    },
  },
  {
    id: 'C03',
    level: 'must',
    section: 'CapacityRange',
    title: 'required_bytes or limit_bytes negative: INVALID_ARGUMENT',
    run: async (probe) => {
      for (const capacity_range of [{ required_bytes: '-1' }, { limit_bytes: '-1' }])
        await probe.refused('CreateVolume', probe.creation({ capacity_range }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C04',
    level: 'must',
    section: 'CapacityRange',
    title: 'a capacity_range with both fields 0: INVALID_ARGUMENT, since one must be set',
    run: async (probe) => {
      const capacity_range = { required_bytes: '0', limit_bytes: '0' };
      await probe.refused('CreateVolume', probe.creation({ capacity_range }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C06',
    level: 'must',
    section: 'CapacityRange',
    title: 'only limit_bytes: the volume is no larger, and not of no size',
    run: async (probe) => {
      const capacity_range = { limit_bytes: `${probe.size}` };
      const { volume } = await probe.ok('CreateVolume', probe.creation({ capacity_range }));
      const bytes = BigInt(volume?.capacity_bytes ?? 0);
      probe.that(bytes > 0n && bytes <= probe.size, `1 to ${probe.size} bytes`, `${bytes}`);
    },
  },
  {
    id: 'C07',
    level: 'allowed',
    section: 'CreateVolumeRequest',
    title: 'no capacity_range: OK, of a size of its own',
    run: async (probe) => {
      await probe.ok('CreateVolume', probe.creation({ capacity_range: null }));
    },
  },
  {
    id: 'C09',
    level: 'must',
    section: 'VolumeCapability',
    title: 'a capability without access_mode, of mode UNKNOWN, of mode 99: INVALID_ARGUMENT',
    run: async (probe) => {
      for (const access_mode of [null, { mode: 0 }, { mode: 99 }]) {
        const capability = { mount: {}, access_mode } as ReturnType<typeof mount>;
        await probe.refused('CreateVolume', probe.creation({ capability }), 'INVALID_ARGUMENT');
      }
    },
  },
  {
    id: 'C10',
    level: 'must',
    section: 'VolumeCapability',
    title: 'a capability of neither block nor mount: INVALID_ARGUMENT',
    run: async (probe) => {
      const capability = { access_mode: mount().access_mode };
      await probe.refused('CreateVolume', probe.creation({ capability }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C12',
    level: 'must',
    section: 'ControllerServiceCapability',
    needs: ['controller.SINGLE_NODE_MULTI_WRITER'],
    title: 'SINGLE_NODE_WRITER stays accepted where SINGLE_NODE_MULTI_WRITER is advertised',
    run: async (probe) => {
      await probe.ok('CreateVolume', probe.creation({ capability: mount({ mode: 'SINGLE_NODE_WRITER' }) }));
    },
  },
  {
    id: 'C28',
    level: 'must',
    section: 'Volume',
    needs: ['no plugin.VOLUME_ACCESSIBILITY_CONSTRAINTS'],
    title: 'without VOLUME_ACCESSIBILITY_CONSTRAINTS a volume has no accessible_topology',
    run: async (probe) => {
      const { volume } = await probe.ok('CreateVolume', probe.creation());
      probe.same(volume?.accessible_topology, [], 'accessible_topology');
    },
  },
  {
    id: 'C29',
    level: 'must',
    section: 'CreateVolumeRequest',
    needs: ['no controller.MODIFY_VOLUME'],
    title: 'mutable_parameters without MODIFY_VOLUME: INVALID_ARGUMENT',
    run: async (probe) => {
      const mutable_parameters = { conformance: 'x' };
      await probe.refused('CreateVolume', probe.creation({ mutable_parameters }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C30',
    level: 'must',
    section: 'CreateVolume',
    needs: ['controller.MODIFY_VOLUME', 'hint mutableParameters', 'hint modifiedParameters'],
    title: 'one key in parameters and in mutable_parameters: the latter wins',
    run: async (probe) => {
      const { mutableParameters = {}, modifiedParameters = {} } = probe.hints;
      const [key = '', lesser = ''] = Object.entries(modifiedParameters)[0] ?? [];
      const winner = mutableParameters[key] ?? '';
      const { id } = await probe.volume({
        parameters: probe.parameters({ [key]: lesser }),
        mutable_parameters: { [key]: winner },
      });
      const holds = async (value: string) => {
        const { confirmed } = await probe.ok('ValidateVolumeCapabilities', {
          volume_id: id,
          volume_capabilities: [mount()],
          mutable_parameters: { [key]: value },
        });
        return confirmed !== null;
      };
      const [hasWinner, hasLesser] = [await holds(winner), await holds(lesser)];
      if (hasWinner && hasLesser) probe.skip('ValidateVolumeCapabilities confirms any mutable parameters');
      probe.that(
        hasWinner,
        `the volume to have ${key}=${winner}`,
        `${key}=${hasLesser ? lesser : 'something else'}`,
      );
    },
  },
  {
    id: 'C38',
    level: 'must',
    section: 'Volume',
    title: 'volume_context: no secret in it, at most 4 KiB, the same whenever the volume is told of',
    run: async (probe) => {
      const secrets = probe.hints.secrets ?? { conformance: 'secret-in-volume-context' };
      const request = probe.creation({ secrets });
      const { volume } = await probe.ok('CreateVolume', request);
      const context = volume?.volume_context ?? {};
      const text = JSON.stringify(context);
      for (const secret of Object.values(secrets))
        probe.that(secret === '' || !text.includes(secret), 'no secret in volume_context', 'one');
      const bytes = Object.entries(context)
        .flat()
        .reduce((sum, part) => sum + Buffer.byteLength(part), 0);
      probe.that(bytes <= 4096, 'volume_context of 4096 bytes at most', `${bytes} bytes`);
      const again = await probe.ok('CreateVolume', request);
      probe.same(again.volume?.volume_context, context, 'volume_context of a repeat');
      const volume_id = volume?.volume_id ?? '';
      if (probe.serves('ControllerGetVolume')) {
        const got = await probe.ok('ControllerGetVolume', { volume_id });
        probe.same(got.volume?.volume_context, context, 'volume_context of ControllerGetVolume');
      }
    },
  },
  ...sameNameCases,
  ...topologyCases,
  ...sourceCases,
  {
    id: 'C01',
    level: 'must',
    section: 'CreateVolumeRequest.name',
    title:
      'a name of nothing, of 129 bytes, or with a control character that names must not have: INVALID_ARGUMENT',
    run: async (probe) => {
      for (const name of ['', 'x'.repeat(129), 'a\u0000b', 'a\u000bb', 'a\u001fb', 'a\u007fb', 'a\u009fb'])
        await probe.refused('CreateVolume', probe.creation({ name }), 'INVALID_ARGUMENT');
    },
  },
  {
    id: 'C05',
    level: 'must',
    section: 'CapacityRange',
    title: 'limit_bytes below required_bytes: OUT_OF_RANGE, or INVALID_ARGUMENT',
    run: async (probe) => {
      const capacity_range = { required_bytes: `${probe.size}`, limit_bytes: `${probe.size / 2n}` };
      const codes = ['OUT_OF_RANGE', 'INVALID_ARGUMENT'] as const;
      await probe.refused('CreateVolume', probe.creation({ capacity_range }), codes);
    },
  },
  {
    id: 'C11',
    level: 'must',
    section: 'CreateVolumeRequest',
    title: 'no volume_capabilities: INVALID_ARGUMENT',
    run: async (probe) => {
      const request = probe.creation({ volume_capabilities: [] });
      await probe.refused('CreateVolume', request, 'INVALID_ARGUMENT');
    },
  },
]);
