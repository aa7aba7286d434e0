import { validateRequest } from '../../../../src/services/rules';
import { bytesField, codec, fromBytes } from '../../csi/wire';
import { everything, valid, verdict, without } from './support';

const from = (source: object, config = everything) =>
  verdict('CreateVolume', { volume_content_source: source }, config);
const snapshot = { snapshot: { snapshot_id: 's1' } };
const volume = { volume: { volume_id: 'v0' } };

test.each([snapshot, volume])('%j is a source', (source) => {
  expect(from(source)).toBe('OK');
});

test('neither is refused', () => {
  expect(from({})).toBe(
    'INVALID_ARGUMENT volume_content_source: expected exactly one of snapshot and volume; found neither',
  );
});

test('both are refused, as bytes can say', () => {
  const both = bytesField(
    6,
    Buffer.concat([bytesField(1, bytesField(1, 's')), bytesField(2, bytesField(1, 'v'))]),
  );
  const rest = codec('CreateVolume').requestSerialize(valid.CreateVolume);
  const request = fromBytes('CreateVolume', Buffer.concat([rest, both]));
  expect(() => validateRequest('CreateVolume', request, everything)).toThrow(
    'volume_content_source: expected exactly one of snapshot and volume; found both',
  );
});

test.each([
  [{ snapshot: {} }, 'snapshot.snapshot_id'],
  [{ volume: {} }, 'volume.volume_id'],
])('%j has no id', (source, field) => {
  expect(from(source)).toBe(
    `INVALID_ARGUMENT volume_content_source.${field}: expected a non-empty string (required field); found it empty`,
  );
});

test.each([
  [{ snapshot: { snapshot_id: 'x'.repeat(129) } }, 'snapshot.snapshot_id'],
  [{ volume: { volume_id: 'x'.repeat(129) } }, 'volume.volume_id'],
])('an id has at most 128 bytes', (source, field) => {
  expect(from(source)).toBe(
    `INVALID_ARGUMENT volume_content_source.${field}: expected at most 128 bytes; found 129 bytes`,
  );
});

test.each([
  [snapshot, volume, 'CREATE_DELETE_SNAPSHOT', 'snapshot'],
  [volume, snapshot, 'CLONE_VOLUME', 'volume'],
])('%j needs a capability, %j another', (source, other, capability, field) => {
  const config = without('controller', capability);
  expect(from(source, config)).toBe(
    `INVALID_ARGUMENT volume_content_source.${field}: expected it unset, as controller capability ${capability} is not advertised; found it set`,
  );
  expect(from(other, config)).toBe('OK');
});
