import { codesOf, injected } from '../../support/gallery';
import { SIDECAR } from '../../support/patience';
import { scene } from './scene';

scene('create-fails-then-works', 'creates at the fourth try', async (gallery) => {
  const seen = await gallery.until('CreateVolume', gallery.createRequest(), SIDECAR);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
  expect(seen[0]?.message).toEqual(injected('create-fails-then-works', 'no-pool', '1 of 3'));
  expect(gallery.clock.monotonic()).toBe(7_000);
});

scene('create-lost-answer', 'has made one volume in three tries', async (gallery) => {
  const request = gallery.createRequest();
  const seen = await gallery.until('CreateVolume', request, SIDECAR);
  expect(codesOf(seen)).toBe('DEADLINE_EXCEEDED, DEADLINE_EXCEEDED, OK');
  expect(seen[0]?.message).toContain(`${request.name} is made, but nobody was told`);
  expect([...gallery.driver.driver.env.volumes.values()]).toHaveLength(1);
});

scene('create-smaller-than-asked', 'reports a mebibyte once', async (gallery) => {
  const request = gallery.createRequest();
  const small = await gallery.call('CreateVolume', request);
  expect(small.reply?.volume?.capacity_bytes).toBe('1048576');
  // As external-provisioner does.
  await gallery.call('DeleteVolume', { volume_id: small.reply?.volume?.volume_id ?? '' });
  const right = await gallery.call('CreateVolume', request);
  expect(right.reply?.volume?.capacity_bytes).toBe(request.capacity_range.required_bytes);
});

scene('out-of-capacity', 'has nothing left for three tries', async (gallery) => {
  const request = gallery.createRequest();
  expect((await gallery.call('GetCapacity', {})).reply?.available_capacity).toBe('0');
  const seen = await gallery.until('CreateVolume', request, SIDECAR);
  expect(codesOf(seen)).toBe(`${'RESOURCE_EXHAUSTED, '.repeat(3)}OK`);
  expect(seen[0]?.message).toContain(
    `${request.capacity_range.required_bytes} bytes do not fit into the pool`,
  );
  for (let i = 0; i < 2; i++) await gallery.call('GetCapacity', {});
  expect((await gallery.call('GetCapacity', {})).reply?.available_capacity).not.toBe('0');
});

scene('clone-fails', 'fails clones and nothing else', async (gallery) => {
  const first = await gallery.until('CreateVolume', gallery.createRequest(), SIDECAR);
  expect(codesOf(first)).toBe('OK');
  const volume_id = first[0]?.reply?.volume?.volume_id ?? '';
  const clone = { ...gallery.createRequest(), volume_content_source: { volume: { volume_id } } };
  const seen = await gallery.until('CreateVolume', clone, SIDECAR);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, OK');
  expect(seen[0]?.message).toEqual(injected('clone-fails', 'torn', '1 of 2'));
});

scene('delete-fails', 'deletes at the fifth try', async (gallery) => {
  const claim = await gallery.provision();
  const seen = await gallery.delete(claim);
  expect(codesOf(seen)).toBe(`${'FAILED_PRECONDITION, '.repeat(4)}OK`);
  expect(seen[0]?.message).toContain(`${claim.id} has snapshots that depend on it`);
  expect(gallery.driver.driver.env.volumes.find(claim.id)).toBeUndefined();
});

scene('delete-lost-answer', 'has deleted what it says it could not', async (gallery) => {
  const claim = await gallery.provision();
  expect((await gallery.call('DeleteVolume', { volume_id: claim.id })).code).toBe('UNAVAILABLE');
  expect(gallery.driver.driver.env.volumes.find(claim.id)).toBeUndefined();
  expect(codesOf(await gallery.delete(claim))).toBe('OK');
});

scene('snapshot-fails', 'cuts at the fourth try', async (gallery) => {
  const { id } = await gallery.provision();
  const seen = await gallery.until('CreateSnapshot', { source_volume_id: id, name: 'snapshot-1' }, SIDECAR);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
  expect(seen[0]?.message).toBe(`[scenario snapshot-fails: rule torn, 1 of 3] could not quiesce ${id}`);
});

scene('snapshot-not-ready', 'becomes ready at the fourth look', async (gallery) => {
  const { id } = await gallery.provision();
  const request = { source_volume_id: id, name: 'snapshot-1' };
  const first = (await gallery.call('CreateSnapshot', request)).reply?.snapshot;
  const ready = [first?.ready_to_use];
  ready.push((await gallery.call('CreateSnapshot', request)).reply?.snapshot?.ready_to_use);
  const snapshot_id = first?.snapshot_id ?? '';
  for (let i = 0; i < 2; i++)
    ready.push((await gallery.call('GetSnapshot', { snapshot_id })).reply?.snapshot?.ready_to_use);
  expect(ready).toEqual([false, false, false, true]);
});
