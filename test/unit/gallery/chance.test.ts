import { codesOf, Gallery } from '../../support/gallery';
import { scene } from './scene';

/** Six pods from claim to end, all at once or one after the other. @returns the codes that each of their calls met */
async function sixPods(gallery: Gallery): Promise<Record<string, string>> {
  const codes: Record<string, string> = {};
  for (let i = 0; i < 6; i++) {
    const claim = await gallery.provision({ name: `pod-${i}` });
    codes[claim.id] = [
      await gallery.attach(claim),
      await gallery.stage(claim),
      await gallery.publish(claim),
      await gallery.unpublish(claim),
      await gallery.unstage(claim),
      await gallery.detach(claim),
    ]
      .map(codesOf)
      .join('; ');
  }
  return codes;
}

scene('flaky-backend', 'fails some calls, and the same ones again', async (gallery) => {
  const codes = await sixPods(gallery);
  const all = Object.values(codes).join(', ').split(/[,;] /);
  const failed = all.filter((code) => code === 'UNAVAILABLE').length;
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThan(all.length / 2);
  const again = await Gallery.start('flaky-backend');
  try {
    expect(await sixPods(again)).toEqual(codes);
  } finally {
    await again.close();
  }
});

scene('slow-backend', 'takes its time, and different times', async (gallery) => {
  const took: number[] = [];
  for (let i = 0; i < 6; i++) {
    const claim = await gallery.provision();
    await gallery.attach(claim);
    const began = gallery.clock.monotonic();
    expect(codesOf(await gallery.stage(claim))).toBe('OK');
    took.push(gallery.clock.monotonic() - began);
  }
  expect(new Set(took).size).toBe(6);
  expect(Math.max(...took)).toBeLessThanOrEqual(60_000);
  expect(Math.min(...took)).toBeGreaterThan(0);
});

scene('backend-outage', 'is away for half a minute of every two', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.clock.advance(90_000);
  const away = await gallery.call('ControllerPublishVolume', gallery.attachRequest(claim));
  expect(away.message).toBe('[scenario backend-outage: rule down, 1] storage backend is not reachable');
  await gallery.attach(claim);
  expect(gallery.clock.monotonic()).toBeGreaterThanOrEqual(120_000);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
});
