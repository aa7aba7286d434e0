import { codesOf } from '../../support/gallery';
import { scene } from './scene';

scene('crash-mid-stage', 'finds its own mount after the crash, and does not crash again', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  const crashed = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
  expect(crashed.code).toBe('UNAVAILABLE');
  expect(gallery.acts).toEqual(['exit 137']);
  await gallery.restart();
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  await gallery.publish(claim);
  expect(gallery.acts).toEqual(['exit 137']);
});

scene('crash-mid-publish', 'has bound the volume before it died', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  await gallery.stage(claim);
  expect((await gallery.call('NodePublishVolume', gallery.publishRequest(claim))).code).toBe('UNAVAILABLE');
  expect(gallery.acts).toEqual(['exit 1']);
  await gallery.restart();
  expect(gallery.isPublished(claim)).toBe(true);
  expect(codesOf(await gallery.publish(claim))).toBe('OK');
  expect(gallery.acts).toEqual(['exit 1']);
});

scene('driver-stopped', 'stands still once', async (gallery) => {
  await gallery.run();
  await gallery.run();
  expect(gallery.acts).toEqual(['stop 20000']);
});

scene('driver-socket-gone', 'is not there for half a minute', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toMatch(/^(UNAVAILABLE, )+OK$/);
  expect(seen.length).toBeGreaterThan(2);
  expect(gallery.clock.monotonic()).toBeGreaterThanOrEqual(30_000);
});
