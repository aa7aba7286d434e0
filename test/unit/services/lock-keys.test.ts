import { lockKeys } from '../../../src/services/lock-keys';
import { snapshotIdFor, volumeIdFor } from '../../../src/services/names';
import { Locks } from '../../../src/volumes/locks';
import { request } from '../csi/wire';

const locks = () => new Locks({ now: () => 0, monotonic: () => 0, sleep: async () => undefined });
const volume = volumeIdFor('v');
const snapshot = snapshotIdFor('s');

const keys = {
  create: lockKeys('CreateVolume', request('CreateVolume', { name: 'v' })),
  clone: lockKeys(
    'CreateVolume',
    request('CreateVolume', { name: 'clone', volume_content_source: { volume: { volume_id: volume } } }),
  ),
  restore: lockKeys(
    'CreateVolume',
    request('CreateVolume', {
      name: 'restore',
      volume_content_source: { snapshot: { snapshot_id: snapshot } },
    }),
  ),
  remove: lockKeys('DeleteVolume', request('DeleteVolume', { volume_id: volume })),
  attach: lockKeys('ControllerPublishVolume', request('ControllerPublishVolume', { volume_id: volume })),
  stage: lockKeys('NodeStageVolume', request('NodeStageVolume', { volume_id: volume })),
  publish: lockKeys(
    'NodePublishVolume',
    request('NodePublishVolume', { volume_id: volume, target_path: '/t' }),
  ),
  publishOther: lockKeys(
    'NodePublishVolume',
    request('NodePublishVolume', { volume_id: 'x', target_path: '/t' }),
  ),
  cut: lockKeys('CreateSnapshot', request('CreateSnapshot', { name: 's', source_volume_id: volume })),
  cutAgain: lockKeys('CreateSnapshot', request('CreateSnapshot', { name: 't', source_volume_id: volume })),
  removeSnapshot: lockKeys('DeleteSnapshot', request('DeleteSnapshot', { snapshot_id: snapshot })),
  metadata: lockKeys('GetMetadataAllocated', request('GetMetadataAllocated', { snapshot_id: snapshot })),
  list: lockKeys('ListVolumes', request('ListVolumes', {})),
};

test.each([
  ['create', 'create'],
  ['create', 'remove'],
  ['clone', 'remove'],
  ['clone', 'stage'],
  ['restore', 'removeSnapshot'],
  ['attach', 'attach'],
  ['attach', 'remove'],
  ['stage', 'publish'],
  ['stage', 'remove'],
  ['publish', 'publishOther'],
  ['cut', 'stage'],
  ['cut', 'remove'],
  ['cut', 'removeSnapshot'],
  ['metadata', 'removeSnapshot'],
] as const)('%s and %s shut each other out', (one, other) => {
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const held = locks();
    held.acquire(keys[first], first);
    expect(() => held.acquire(keys[second], second)).toThrow(`is pending: ${first}`);
  }
});

test.each([
  // A controller and a node know nothing of each other: attaching must not be refused because a mount hangs.
  ['attach', 'stage'],
  ['attach', 'publish'],
  ['clone', 'cut'],
  ['cut', 'cutAgain'],
  ['restore', 'metadata'],
  ['metadata', 'metadata'],
  ['list', 'create'],
] as const)('%s and %s go together', (one, other) => {
  const held = locks();
  held.acquire(keys[one], one);
  expect(() => held.acquire(keys[other], other)).not.toThrow();
});
