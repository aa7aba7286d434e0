import { schemaEnums, schemaMessages } from '../../../src/csi/gen/schema';
import { loadCsi, loadRegistration } from '../../../src/csi/load';

const csi = Object.entries(schemaMessages).filter(([name]) => name.startsWith('csi.v1.'));
const fields = csi.flatMap(([, message]) => Object.values(message.fields));

test('the schema has the size of CSI 1.12', () => {
  const oneofs = csi.flatMap(([name, message]) =>
    Object.values(message.fields).flatMap((field) => (field.oneof ? [`${name}.${field.oneof}`] : [])),
  );
  expect({
    messages: csi.length,
    fields: fields.length,
    maps: fields.filter((field) => field.label === 'map').length,
    repeated: fields.filter((field) => field.label === 'repeated').length,
    oneofs: new Set(oneofs).size,
    oneofFields: oneofs.length,
    secrets: fields.filter((field) => field.secret).length,
    alphaFields: fields.filter((field) => field.alpha).length,
    alphaMessages: csi.filter(([, message]) => message.alpha).length,
    enums: Object.keys(schemaEnums).length,
    enumValues: Object.values(schemaEnums).flatMap((values) => Object.keys(values)).length,
  }).toEqual({
    messages: 94,
    fields: 196,
    maps: 40,
    repeated: 23,
    oneofs: 6,
    oneofFields: 9,
    secrets: 19,
    alphaFields: 4,
    alphaMessages: 5,
    enums: 8,
    enumValues: 47,
  });
});

test('every secret is a map of strings called secrets in a request', () => {
  for (const [name, message] of csi) {
    const secret = Object.entries(message.fields).filter(([, field]) => field.secret);
    const named = Object.keys(message.fields).filter((field) => field === 'secrets');
    expect([name, secret.map(([field]) => field)]).toEqual([name, named]);
    for (const [, field] of secret) expect(field).toMatchObject({ type: 'string', label: 'map' });
    if (secret.length > 0) expect(name).toMatch(/Request$/);
  }
});

test('the services count 3, 15, 4, 2 and 8 methods', () => {
  const counts = Object.entries(loadCsi()).map(([name, definition]) => [
    name,
    Object.keys(definition).length,
  ]);
  expect(Object.fromEntries(counts)).toEqual({
    Identity: 3,
    Controller: 15,
    GroupController: 4,
    SnapshotMetadata: 2,
    Node: 8,
  });
});

test('the registration service has no version in its paths', () => {
  const { GetInfo, NotifyRegistrationStatus } = loadRegistration();
  expect([GetInfo.path, NotifyRegistrationStatus.path]).toEqual([
    '/pluginregistration.Registration/GetInfo',
    '/pluginregistration.Registration/NotifyRegistrationStatus',
  ]);
  const info = {
    type: 'CSIPlugin',
    name: 'fake.csi.test',
    endpoint: '/c.sock',
    supported_versions: ['1.0.0'],
  };
  expect(GetInfo.responseDeserialize(GetInfo.responseSerialize(info))).toEqual(info);
});
