import { schemaMessages } from '../../../../src/csi/gen/schema';
import { type CsiMethod, methods, rpcs } from '../../../../src/csi/rpcs';
import { valid, verdict, verdictOn } from './support';

test.each(methods)('%s: a request with nothing but its required fields is fine', (method) => {
  expect(verdict(method, {})).toBe('OK');
});

const strings: [CsiMethod, string][] = [
  ['CreateVolume', 'name'],
  ['DeleteVolume', 'volume_id'],
  ['ControllerPublishVolume', 'volume_id'],
  ['ControllerPublishVolume', 'node_id'],
  ['ControllerUnpublishVolume', 'volume_id'],
  ['ValidateVolumeCapabilities', 'volume_id'],
  ['CreateSnapshot', 'name'],
  ['CreateSnapshot', 'source_volume_id'],
  ['DeleteSnapshot', 'snapshot_id'],
  ['GetSnapshot', 'snapshot_id'],
  ['ControllerExpandVolume', 'volume_id'],
  ['ControllerGetVolume', 'volume_id'],
  ['ControllerModifyVolume', 'volume_id'],
  ['CreateVolumeGroupSnapshot', 'name'],
  ['DeleteVolumeGroupSnapshot', 'group_snapshot_id'],
  ['GetVolumeGroupSnapshot', 'group_snapshot_id'],
  ['GetMetadataAllocated', 'snapshot_id'],
  ['GetMetadataDelta', 'base_snapshot_id'],
  ['GetMetadataDelta', 'target_snapshot_id'],
  ['NodeStageVolume', 'volume_id'],
  ['NodeUnstageVolume', 'volume_id'],
  ['NodePublishVolume', 'volume_id'],
  ['NodeUnpublishVolume', 'volume_id'],
  ['NodeGetVolumeStats', 'volume_id'],
  ['NodeExpandVolume', 'volume_id'],
];

test.each(strings)('%s: %s must not be empty', (method, field) => {
  expect(verdictOn(method, field, '')).toBe(
    `INVALID_ARGUMENT ${field}: expected a non-empty string (required field); found it empty`,
  );
});

const paths: [CsiMethod, string][] = [
  ['NodeStageVolume', 'staging_target_path'],
  ['NodeUnstageVolume', 'staging_target_path'],
  ['NodePublishVolume', 'target_path'],
  ['NodeUnpublishVolume', 'target_path'],
  ['NodeGetVolumeStats', 'volume_path'],
  ['NodeExpandVolume', 'volume_path'],
];

test.each(paths)('%s: %s must not be empty', (method, field) => {
  expect(verdictOn(method, field, '')).toBe(
    `INVALID_ARGUMENT ${field}: expected a path (required field); found it empty`,
  );
});

const messages: [CsiMethod, string][] = [
  ['ControllerPublishVolume', 'volume_capability'],
  ['ControllerExpandVolume', 'capacity_range'],
  ['NodeStageVolume', 'volume_capability'],
  ['NodePublishVolume', 'volume_capability'],
];

test.each(messages)('%s: %s must be there', (method, field) => {
  expect(verdictOn(method, field, null)).toBe(
    `INVALID_ARGUMENT ${field}: expected a value (required field); found none`,
  );
});

const lists: [CsiMethod, string][] = [
  ['CreateVolume', 'volume_capabilities'],
  ['ValidateVolumeCapabilities', 'volume_capabilities'],
  ['CreateVolumeGroupSnapshot', 'source_volume_ids'],
];

test.each(lists)('%s: %s needs an element', (method, field) => {
  expect(verdictOn(method, field, [])).toBe(
    `INVALID_ARGUMENT ${field}: expected at least one element (required field); found none`,
  );
});

test('these are all required fields but for those the service judges itself', () => {
  const tested = [...strings, ...paths, ...messages, ...lists].map(([method, field]) => `${method}.${field}`);
  const needed = methods.flatMap((method) => Object.keys(valid[method]).map((field) => `${method}.${field}`));
  expect(needed.filter((field) => !tested.includes(field)).sort()).toEqual([
    'ControllerModifyVolume.mutable_parameters',
    'DeleteVolumeGroupSnapshot.snapshot_ids',
    'GetVolumeGroupSnapshot.snapshot_ids',
  ]);
});

test.each([
  ['CreateVolumeGroupSnapshot', 'source_volume_ids'],
  ['DeleteVolumeGroupSnapshot', 'snapshot_ids'],
  ['GetVolumeGroupSnapshot', 'snapshot_ids'],
] as const)('%s: no element of %s is empty', (method, field) => {
  expect(verdictOn(method, field, ['a', ''])).toBe(
    `INVALID_ARGUMENT ${field}[1]: expected a non-empty string (required field); found it empty`,
  );
});

test.each(methods)('%s: an empty request never gets past its required fields', (method) => {
  const empty = Object.fromEntries(Object.keys(valid[method]).map((field) => [field, undefined]));
  const hasRequired = strings.some(([m]) => m === method);
  expect(verdict(method, empty)).toMatch(hasRequired ? /^INVALID_ARGUMENT .*\(required field\)/ : /^OK$/);
});

test('the tables name real fields', () => {
  for (const [method, field] of [...strings, ...paths, ...messages, ...lists]) {
    expect(schemaMessages[rpcs[method].requestType]?.fields).toHaveProperty(field);
  }
});
