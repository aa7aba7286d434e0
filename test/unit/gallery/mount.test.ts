import { codesOf, type Gallery, injected, type StageOptions } from '../../support/gallery';
import { scene } from './scene';

/** A volume that is attached, as the kubelet finds it. */
async function attached(gallery: Gallery, options: StageOptions = {}) {
  const claim = await gallery.provision(options);
  await gallery.attach(claim);
  return claim;
}

scene('stage-final-error', 'fails three times, then stages', async (gallery) => {
  const claim = await attached(gallery);
  const began = gallery.clock.monotonic();
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
  expect(seen[2]?.message).toBe(
    `[scenario stage-final-error: rule broken, 3 of 3] mount of ${claim.id} failed: input/output error`,
  );
  expect(gallery.clock.monotonic() - began).toBe(3_500);
});

scene('stage-uncertain', 'lets a volume be unstaged that never was staged', async (gallery) => {
  const claim = await attached(gallery);
  const failed = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
  expect(failed).toMatchObject({
    code: 'UNAVAILABLE',
    message: injected('stage-uncertain', 'unsure', '1 of 3'),
  });
  expect(gallery.isStaged(claim)).toBe(false);
  expect(codesOf(await gallery.unstage(claim))).toBe('OK');
  expect(codesOf(await gallery.stage(claim))).toBe('UNAVAILABLE, UNAVAILABLE, OK');
});

scene('stage-final-but-mounted', 'is staged whatever it says', async (gallery) => {
  const claim = await attached(gallery);
  const failed = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
  expect(failed).toMatchObject({
    code: 'INTERNAL',
    message: injected('stage-final-but-mounted', 'denied', '1'),
  });
  expect(gallery.isStaged(claim)).toBe(true);
  // The pod is gone: no NodeUnstageVolume.
  await gallery.detach(claim);
  expect([gallery.isStaged(claim), gallery.isAttached(claim)]).toEqual([true, false]);
  await gallery.attach(claim);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  await gallery.unstage(claim);
  expect(gallery.isStaged(claim)).toBe(false);
});

scene('lost-answer', 'has done the work that it says failed', async (gallery) => {
  const claim = await attached(gallery);
  const failed = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
  expect(failed).toEqual({
    code: 'DEADLINE_EXCEEDED',
    message: `[scenario lost-answer: rule lose, 1] ${claim.id} is staged, but nobody was told`,
    reply: undefined,
  });
  expect(gallery.isStaged(claim)).toBe(true);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
});

scene('stage-hangs', 'gives the first call no answer, and others theirs', async (gallery) => {
  const [claim, other] = [await attached(gallery), await attached(gallery)];
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toBe('DEADLINE_EXCEEDED, OK');
  expect(gallery.clock.monotonic()).toBe(120_500);
  expect(codesOf(await gallery.stage(other))).toBe('DEADLINE_EXCEEDED, OK');
});

scene('late-mount', 'mounts behind the back of a caller who gave up', async (gallery) => {
  const claim = await attached(gallery);
  const late = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
  expect(late.code).toBe('DEADLINE_EXCEEDED');
  const busy = await gallery.call('NodeUnstageVolume', {
    volume_id: claim.id,
    staging_target_path: claim.staging,
  });
  expect(busy.code).toBe('ABORTED');
  expect(await gallery.driver.driver.env.host.mounts.at(claim.staging)).toBeNull();
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toBe(`${'ABORTED, '.repeat(6)}OK`);
  expect(gallery.clock.monotonic()).toBe(120_000 + 31_500);
});

scene('not-visible', 'publishes nothing once', async (gallery) => {
  const claim = await gallery.run();
  expect(gallery.isPublished(claim)).toBe(false);
  expect(gallery.isStaged(claim)).toBe(true);
  await gallery.unpublish(claim);
  await gallery.publish(claim);
  expect(gallery.isPublished(claim)).toBe(true);
});

scene('publish-fails', 'fails to publish what is staged', async (gallery) => {
  const claim = await attached(gallery);
  await gallery.stage(claim);
  const seen = await gallery.publish(claim);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
  expect(seen[0]?.message).toBe(
    `[scenario publish-fails: rule no-bind, 1 of 3] bind mount to ${claim.target} failed: operation not permitted`,
  );
  expect(gallery.isPublished(claim)).toBe(true);
});

scene('publish-read-only', 'publishes read-only what was asked for writable', async (gallery) => {
  const claim = await gallery.run();
  const published = () => gallery.driver.driver.env.node?.store.publication(claim.target);
  expect(published()).toMatchObject({ readOnly: true });
  await gallery.unpublish(claim);
  await gallery.publish(claim);
  expect(published()).toMatchObject({ readOnly: false });
});

scene('fsgroup-ignored', 'stages without the group it was given', async (gallery) => {
  const stagedFor = (id: string) => gallery.driver.driver.env.node?.store.stage(id)?.capability.mountGroup;
  const claim = await gallery.run({ group: '2000' });
  expect(stagedFor(claim.id)).toBe('');
  await gallery.unpublish(claim);
  await gallery.unstage(claim);
  await gallery.stage(claim);
  expect(stagedFor(claim.id)).toBe('2000');
});

scene('stage-ok-no-mount', 'is found out by the publish', async (gallery) => {
  const claim = await attached(gallery);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  expect(gallery.isStaged(claim)).toBe(false);
  const failed = await gallery.call('NodePublishVolume', gallery.publishRequest(claim));
  expect(failed).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: `volume ${claim.id} is not staged at ${claim.staging}; call NodeStageVolume first`,
  });
  await gallery.unstage(claim);
  await gallery.stage(claim);
  expect(codesOf(await gallery.publish(claim))).toBe('OK');
});

scene('publish-hangs', 'lets what was never published be unpublished', async (gallery) => {
  const claim = await attached(gallery);
  await gallery.stage(claim);
  const hung = await gallery.call('NodePublishVolume', gallery.publishRequest(claim));
  expect(hung.code).toBe('DEADLINE_EXCEEDED');
  expect(gallery.clock.monotonic()).toBe(120_000);
  expect(codesOf(await gallery.unpublish(claim))).toBe('OK');
  expect(codesOf(await gallery.publish(claim))).toBe('OK');
});

scene('republish-fails', 'fails for a pod that runs, and leaves its mount alone', async (gallery) => {
  const claim = await attached(gallery);
  await gallery.stage(claim);
  expect(codesOf(await gallery.publish(claim))).toBe('OK');
  const seen = await gallery.publish(claim);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, OK');
  expect(seen[0]?.message).toEqual(injected('republish-fails', 'stale', '1 of 2'));
  expect(gallery.isPublished(claim)).toBe(true);
});
