import fc from 'fast-check';
import { schemaMessages } from '../../../src/csi/gen/schema';
import { redactMessage, redactRequest } from '../../../src/csi/redact';
import { type CsiMethod, methods, type RequestOf, rpcs } from '../../../src/csi/rpcs';
import { MARKER, messageOf } from './arbitrary';
import { codec } from './wire';

const withSecrets = methods.filter((method) =>
  Object.values(schemaMessages[rpcs[method].requestType]?.fields ?? {}).some((field) => field.secret),
);

test('19 requests carry secrets', () => {
  expect(withSecrets).toHaveLength(19);
});

test.each(methods)('no marker survives %s, and the request is left as it was', (method) => {
  fc.assert(
    fc.property(messageOf(rpcs[method].requestType), (fields) => {
      const request = onTheWire(method, fields);
      const before = JSON.stringify(request);
      const plain = redactRequest(method, request);
      expect(JSON.stringify(plain)).not.toContain(MARKER);
      expect(JSON.stringify(request)).toBe(before);
      expect(JSON.parse(JSON.stringify(plain))).toEqual(plain);
    }),
  );
});

test.each(methods)('no marker survives the reply of %s', (method) => {
  fc.assert(
    fc.property(messageOf(rpcs[method].responseType), (reply) => {
      expect(JSON.stringify(redactMessage(rpcs[method].responseType, reply))).not.toContain(MARKER);
    }),
  );
});

test.each(withSecrets)('%s does carry the marker before redaction', (method) => {
  const secrets = onTheWire(method, { secrets: { password: MARKER } });
  expect(JSON.stringify(secrets)).toContain(MARKER);
});

function onTheWire<M extends CsiMethod>(method: M, fields: object): RequestOf<M> {
  return codec(method).requestDeserialize(codec(method).requestSerialize(fields)) as RequestOf<M>;
}
