import path from 'node:path';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import fc from 'fast-check';
import { schemaServices } from '../../../src/csi/gen/schema';
import { loadCsi, loadRegistration } from '../../../src/csi/load';
import { messageOf } from './arbitrary';

type Method = MethodDefinition<object, object>;
type Definitions = Record<string, Record<string, Method>>;

const folder = path.join(__dirname, '../../../proto');
const decoding = { keepCase: true, longs: String, enums: Number, defaults: true, oneofs: true };

/** What proto-loader makes of the same .proto files at run time: the judge of what comes of the generated schema. */
const reference: Definitions = Object.assign(
  {},
  ...['csi.proto', 'registration.proto'].map((file) => loadSync(path.join(folder, file), decoding)),
);

const own: Definitions = Object.fromEntries([
  ...Object.entries(loadCsi()).map(([name, methods]) => [`csi.v1.${name}`, methods]),
  ['pluginregistration.Registration', loadRegistration()],
]);

function method(definitions: Definitions, service: string, name: string): Method {
  const found = definitions[service]?.[name];
  if (found === undefined) throw new Error(`expected ${service}/${name}, found no such method`);
  return found;
}

const methods = Object.entries(schemaServices).flatMap(([service, all]) =>
  Object.entries(all).map(([name, schema]) => ({ service, name, ...schema })),
);

test('the services are those of proto/, method by method', () => {
  const facts = (definitions: Definitions) =>
    Object.fromEntries(
      Object.keys(schemaServices).map((service) => [
        service,
        Object.entries(definitions[service] ?? {}).map(([name, one]) => ({
          name,
          path: one.path,
          originalName: one.originalName,
          streams: [one.requestStream, one.responseStream],
          types: [one.requestType.type, one.responseType.type].map((type) => (type as { name: string }).name),
          format: one.requestType.format,
        })),
      ]),
    );
  expect(facts(own)).toEqual(facts(reference));
  expect(methods).toHaveLength(34);
});

describe.each(methods)('$name', ({ service, name, request, response }) => {
  const ours = method(own, service, name);
  const judge = method(reference, service, name);

  test('requests have the same bytes and read the same as with proto-loader', () => {
    fc.assert(
      fc.property(messageOf(request), (message) => {
        const bytes = ours.requestSerialize(message);
        expect(bytes.equals(judge.requestSerialize(message))).toBe(true);
        expect(ours.requestDeserialize(bytes)).toStrictEqual(judge.requestDeserialize(bytes));
      }),
    );
  });

  test('responses have the same bytes and read the same as with proto-loader', () => {
    fc.assert(
      fc.property(messageOf(response), (message) => {
        const bytes = ours.responseSerialize(message);
        expect(bytes.equals(judge.responseSerialize(message))).toBe(true);
        expect(ours.responseDeserialize(bytes)).toStrictEqual(judge.responseDeserialize(bytes));
      }),
    );
  });
});

test('a message with a byte changed is refused or read as some message, never anything else', () => {
  const { requestSerialize, requestDeserialize } = method(own, 'csi.v1.Controller', 'CreateVolume');
  const names = Object.keys(requestDeserialize(Buffer.alloc(0))).sort();
  fc.assert(
    fc.property(messageOf('csi.v1.CreateVolumeRequest'), fc.nat(), fc.nat(255), (message, at, byte) => {
      const bytes = Buffer.concat([requestSerialize(message), Buffer.alloc(1)]);
      bytes[at % bytes.length] = byte;
      let read: object;
      try {
        read = requestDeserialize(bytes);
      } catch (error) {
        expect(String(error)).toMatch(
          /^(RangeError: index out of range|Error: invalid|Error: maximum nesting)/,
        );
        return;
      }
      expect(Object.keys(read).sort()).toEqual(names);
    }),
    { numRuns: 1_000 },
  );
});
