import { schemaMessages } from '../../../../src/csi/gen/schema';
import { type CsiMethod, methods, rpcs } from '../../../../src/csi/rpcs';
import { CsiError } from '../../../../src/csi/status';
import { validateRequest } from '../../../../src/services/rules';
import { bytesField, codec, fromBytes, varintField } from '../../csi/wire';
import { everything, valid, verdictOn, without } from './support';

type Service = 'controller' | 'node';

/** Every field that holds capabilities, and the service that answers for the alpha modes. */
const places = methods.flatMap((method) =>
  Object.entries(schemaMessages[rpcs[method].requestType]?.fields ?? {})
    .filter(([, field]) => field.type === 'csi.v1.VolumeCapability')
    .map(([name, field]) => ({
      method,
      field: name,
      service: (rpcs[method].service === 'Node' ? 'node' : 'controller') as Service,
      put: (capability: object) => (field.label === 'repeated' ? [capability] : capability),
      at: field.label === 'repeated' ? `${name}[0]` : name,
    })),
);
const mode = (number: number) => ({ mount: {}, access_mode: { mode: number } });

test('there are eight of them', () => {
  expect(places.map(({ method }) => method).sort()).toEqual([
    'ControllerExpandVolume',
    'ControllerPublishVolume',
    'CreateVolume',
    'GetCapacity',
    'NodeExpandVolume',
    'NodePublishVolume',
    'NodeStageVolume',
    'ValidateVolumeCapabilities',
  ]);
});

describe.each(places)('$method: $field', ({ method, field, service, put, at }) => {
  const said = (capability: object, config = everything) => verdictOn(method, field, put(capability), config);

  test.each([1, 2, 3, 4, 5, 6, 7])('access mode %d is fine with every capability', (number) => {
    expect(said(mode(number))).toBe('OK');
  });

  test('block and an empty mount are access types', () => {
    expect(said({ block: {}, access_mode: { mode: 1 } })).toBe('OK');
    expect(said({ mount: {}, access_mode: { mode: 1 } })).toBe('OK');
  });

  test('the access mode must be there', () => {
    expect(said({ mount: {} })).toMatch(
      new RegExp(`^INVALID_ARGUMENT ${quoted(at)}\\.access_mode: expected a value .*; found none$`),
    );
  });

  test('an empty capability is refused', () => {
    expect(said({})).toMatch(/^INVALID_ARGUMENT .*access_mode/);
  });

  test.each([
    [0, 'UNKNOWN'],
    [8, '8'],
    [99, '99'],
    [-1, '-1'],
  ])('access mode %d is not known', (number, found) => {
    expect(said(mode(number))).toBe(
      `INVALID_ARGUMENT ${at}.access_mode.mode: expected one of SINGLE_NODE_WRITER, SINGLE_NODE_READER_ONLY, MULTI_NODE_READER_ONLY, MULTI_NODE_SINGLE_WRITER, MULTI_NODE_MULTI_WRITER, SINGLE_NODE_SINGLE_WRITER, SINGLE_NODE_MULTI_WRITER; found ${found}`,
    );
  });

  test('one access type must be there', () => {
    expect(said({ access_mode: { mode: 1 } })).toBe(
      `INVALID_ARGUMENT ${at}: expected exactly one of block and mount; found neither`,
    );
  });

  test('both access types are refused, as bytes can say', () => {
    const both = Buffer.concat([bytesField(1, ''), bytesField(2, ''), bytesField(3, varintField(1, 1n))]);
    const rest = codec(method).requestSerialize({ ...valid[method], [field]: undefined });
    const request = fromBytes(method, Buffer.concat([rest, bytesField(numberOf(method, field), both)]));
    expect(refusal(() => validateRequest(method, request, everything))).toBe(
      `${at}: expected exactly one of block and mount; found both`,
    );
  });

  describe(`without SINGLE_NODE_MULTI_WRITER of the ${service} service`, () => {
    const config = without(service, 'SINGLE_NODE_MULTI_WRITER');

    test.each([
      [6, 'SINGLE_NODE_SINGLE_WRITER'],
      [7, 'SINGLE_NODE_MULTI_WRITER'],
    ])('access mode %d is refused where it would be used', (number, name) => {
      const question = method === 'GetCapacity' || method === 'ValidateVolumeCapabilities';
      if (question) return expect(said(mode(number), config)).toBe('OK');
      return expect(said(mode(number), config)).toBe(
        `INVALID_ARGUMENT ${at}.access_mode.mode: expected one of SINGLE_NODE_WRITER, SINGLE_NODE_READER_ONLY, MULTI_NODE_READER_ONLY, MULTI_NODE_SINGLE_WRITER, MULTI_NODE_MULTI_WRITER, as ${service} capability SINGLE_NODE_MULTI_WRITER is not advertised; found ${name}`,
      );
    });

    test.each([1, 2, 3, 4, 5])('access mode %d stays', (number) => {
      expect(said(mode(number), config)).toBe('OK');
    });
  });

  test('SINGLE_NODE_MULTI_WRITER of the other service says nothing here', () => {
    const other = service === 'node' ? 'controller' : 'node';
    expect(said(mode(7), without(other, 'SINGLE_NODE_MULTI_WRITER'))).toBe('OK');
  });
});

test.each(['ControllerExpandVolume', 'NodeExpandVolume'] as const)('%s: may come without one', (method) => {
  expect(verdictOn(method, 'volume_capability', null)).toBe('OK');
});

test('every capability of a list is looked at', () => {
  expect(verdictOn('CreateVolume', 'volume_capabilities', [mode(1), mode(2), mode(0)])).toMatch(
    /^INVALID_ARGUMENT volume_capabilities\[2\]\.access_mode\.mode/,
  );
});

/** The number of a field, found by encoding it. */
function numberOf(method: CsiMethod, field: string): number {
  const label = schemaMessages[rpcs[method].requestType]?.fields[field]?.label;
  const [tag = 0] = codec(method).requestSerialize({ [field]: label === 'repeated' ? [{}] : {} });
  return tag >> 3;
}

function refusal(run: () => void): string {
  try {
    run();
    return 'OK';
  } catch (error) {
    if (error instanceof CsiError) return error.message;
    throw error;
  }
}

function quoted(text: string): string {
  return text.replace(/[.[\]]/g, '\\$&');
}
