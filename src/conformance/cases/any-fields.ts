import { type SchemaField, schemaMessages } from '../../csi/gen/schema';
import { type CsiMethod, methods, rpcs } from '../../csi/rpcs';
import type { Answer } from '../answer';
import { mount } from '../capability';
import { casesOf } from '../case';
import { minimal } from '../minimal';
import type { Probe } from '../probe';

/** Fields of requests that the driver serves, by what they are. */
function fields(
  probe: Probe,
  matches: (name: string, field: SchemaField) => boolean,
): (readonly [CsiMethod, string])[] {
  return methods
    .filter((method) => probe.serves(method))
    .flatMap((method) =>
      Object.entries(schemaMessages[rpcs[method].requestType]?.fields ?? {})
        .filter(([name, field]) => matches(name, field))
        .map(([name]) => [method, name] as const),
    );
}

const sendWith = async (probe: Probe, method: CsiMethod, fields: object) =>
  (await probe.send(method, { ...minimal[method], ...fields })) as Answer;

/** A field's value is refused as such, or read: then the refusal is about something else. */
async function limit(probe: Probe, method: CsiMethod, field: string, tooMuch: unknown, most?: unknown) {
  const above = await sendWith(probe, method, { [field]: tooMuch });
  probe.isRefused(above, 'INVALID_ARGUMENT', `${field} is too large`);
  if (most === undefined) return;
  const { code } = await sendWith(probe, method, { [field]: most });
  probe.that(code !== 'INVALID_ARGUMENT', `${field} at the limit to be read`, code);
}

/** A node id has a limit of its own. */
const bytesOf = (field: string) => (field === 'node_id' ? 256 : 128);

/** Maps whose keys a driver need not know, so that a large one can be read. */
const FREE_MAPS = ['volume_context', 'publish_context', 'secrets'];

const mapOf = (bytes: number) => ({ conformance: 'x'.repeat(bytes - 'conformance'.length) });

export const anyFields = casesOf('(any)', [
  {
    id: 'T05',
    level: 'must',
    section: 'Size Limits',
    title: 'a string of one byte more than 128 (node_id: 256): INVALID_ARGUMENT; at the limit it is read',
    run: async (probe) => {
      const strings = fields(
        probe,
        (name, { type, label }) => type === 'string' && !label && !name.endsWith('_path'),
      );
      for (const [method, field] of strings) {
        const most = bytesOf(field);
        await limit(probe, method, field, 'x'.repeat(most + 1), 'x'.repeat(most));
      }
      if (!probe.serves('CreateVolume')) return;
      const capability = mount({ fsType: 'x'.repeat(129) });
      await probe.refused('CreateVolume', probe.creation({ capability }), 'INVALID_ARGUMENT', 'fs_type');
      const name = probe.name();
      await probe.ok('CreateVolume', probe.creation({ name: name.padEnd(128, 'x') }), 'a name of 128 bytes');
    },
  },
  {
    id: 'T07',
    level: 'must',
    section: 'Size Limits',
    title: 'a map of more than 4096 bytes: INVALID_ARGUMENT; of 4096 it is read',
    run: async (probe) => {
      for (const [method, field] of fields(probe, (_name, { label }) => label === 'map'))
        await limit(probe, method, field, mapOf(4097), FREE_MAPS.includes(field) ? mapOf(4096) : undefined);
    },
  },
  {
    id: 'T09',
    level: 'decision',
    section: 'Size Limits',
    title: 'a path of 4097 bytes: refused, and the driver goes on',
    run: async (probe) => {
      const paths = fields(probe, (name) => name.endsWith('_path'));
      if (paths.length === 0) probe.skip('no RPC with a path is served');
      for (const [method, field] of paths) {
        const answer = await sendWith(probe, method, { [field]: `/${'x'.repeat(4096)}` });
        // OK to take away what cannot be there; a driver that fell over is UNAVAILABLE.
        if (answer.code !== 'OK' || !method.includes('Un')) probe.isRefused(answer, 'any refusal');
        await probe.ok('GetPluginInfo', {}, 'the driver is alive');
      }
    },
  },
  {
    id: 'T10',
    level: 'must',
    section: 'Secrets Requirements',
    title: 'a key of secrets with another character than letters, digits, "-", "_" and ".": INVALID_ARGUMENT',
    run: async (probe) => {
      for (const [method] of fields(probe, (name) => name === 'secrets'))
        for (const key of ['a key', 'ключ', 'a/b']) {
          const answer = await sendWith(probe, method, { secrets: { [key]: 'x' } });
          probe.isRefused(answer, 'INVALID_ARGUMENT', `a secret of the name ${JSON.stringify(key)}`);
        }
    },
  },
]);
