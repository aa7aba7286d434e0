import { codesOf, injected } from '../../support/gallery';
import { scene } from './scene';

scene('unpublish-fails', 'keeps the pod for a quarter of a minute', async (gallery) => {
  const claim = await gallery.run();
  const seen = await gallery.unpublish(claim);
  expect(codesOf(seen)).toBe(`${'INTERNAL, '.repeat(5)}OK`);
  expect(seen[0]?.message).toBe(
    `[scenario unpublish-fails: rule busy, 1 of 5] umount ${claim.target}: target is busy`,
  );
  expect(gallery.clock.monotonic()).toBe(15_500);
  expect(gallery.isPublished(claim)).toBe(false);
});

scene('unpublish-ok-mount-left', 'unmounts only when it is asked again', async (gallery) => {
  const claim = await gallery.run();
  expect(codesOf(await gallery.unpublish(claim))).toBe('OK');
  expect(gallery.isPublished(claim)).toBe(true);
  // The kubelet was restarted.
  await gallery.unpublish(claim);
  expect(gallery.isPublished(claim)).toBe(false);
});

scene('unpublish-lost-answer', 'answers OK for what is gone', async (gallery) => {
  const claim = await gallery.run();
  const lost = await gallery.call('NodeUnpublishVolume', { volume_id: claim.id, target_path: claim.target });
  expect(lost.message).toEqual(injected('unpublish-lost-answer', 'lose', '1'));
  expect(gallery.isPublished(claim)).toBe(false);
  expect(codesOf(await gallery.unpublish(claim))).toBe('UNAVAILABLE, OK');
});

scene('unstage-fails', 'keeps the volume on the node, also for the next pod', async (gallery) => {
  const claim = await gallery.run();
  await gallery.unpublish(claim);
  const path = { volume_id: claim.id, staging_target_path: claim.staging };
  const failed = await gallery.call('NodeUnstageVolume', path);
  expect(failed.message).toEqual(injected('unstage-fails', 'busy', '1 of 5'));
  expect(gallery.isStaged(claim)).toBe(true);
  // A new pod on the same node.
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  expect(codesOf(await gallery.unstage(claim))).toBe(`${'INTERNAL, '.repeat(4)}OK`);
  expect(gallery.isStaged(claim)).toBe(false);
});

scene('unstage-ok-mount-left', 'leaves a mount behind that the next pod takes over', async (gallery) => {
  const claim = await gallery.run();
  await gallery.unpublish(claim);
  expect(codesOf(await gallery.unstage(claim))).toBe('OK');
  await gallery.detach(claim);
  expect([gallery.isStaged(claim), gallery.isAttached(claim)]).toEqual([true, false]);
  await gallery.attach(claim);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  await gallery.unstage(claim);
  expect(gallery.isStaged(claim)).toBe(false);
});

scene('late-unmount', 'makes the next pod wait for the unmount, and leaves it its mount', async (gallery) => {
  const claim = await gallery.run();
  await gallery.unpublish(claim);
  const path = { volume_id: claim.id, staging_target_path: claim.staging };
  expect((await gallery.call('NodeUnstageVolume', path)).code).toBe('DEADLINE_EXCEEDED');
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toBe(`${'ABORTED, '.repeat(6)}OK`);
  await gallery.clock.advance(600_000);
  expect(gallery.isStaged(claim)).toBe(true);
  await gallery.publish(claim);
});

scene('stuck-detaching', 'is busy three times, hangs once, and lets go', async (gallery) => {
  const claim = await gallery.run();
  await gallery.unpublish(claim);
  expect(codesOf(await gallery.unstage(claim))).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
  expect(codesOf(await gallery.detach(claim))).toBe('DEADLINE_EXCEEDED, OK');
  expect(gallery.isAttached(claim)).toBe(false);
});
