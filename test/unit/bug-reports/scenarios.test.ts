import * as path from 'node:path';
import { codesOf, Gallery } from '../../support/gallery';
import { SIDECAR } from '../../support/patience';

jest.setTimeout(120_000);

/** A report that no file of the gallery shows as it was: its scenario is test/support/bug-reports/<id>.yaml. */
function report(id: string, title: string, story: (gallery: Gallery) => Promise<void>): void {
  it(`${id}: ${title}`, async () => {
    const file = path.join(__dirname, `../../support/bug-reports/${id}.yaml`);
    const gallery = await Gallery.start(id.toLowerCase(), { scenarios: [file] });
    try {
      await story(gallery);
      const fired = Object.entries(gallery.fired());
      expect(fired.length).toBeGreaterThan(0);
      expect(fired.filter(([, times]) => times === 0)).toEqual([]);
    } finally {
      await gallery.close();
    }
  });
}

async function restore(gallery: Gallery) {
  const source = await gallery.provision();
  const cut = await gallery.call('CreateSnapshot', { source_volume_id: source.id, name: 'snapshot-1' });
  const snapshot_id = cut.reply?.snapshot?.snapshot_id ?? '';
  const request = { ...gallery.createRequest(), volume_content_source: { snapshot: { snapshot_id } } };
  return { snapshot_id, request };
}

const readOnly = (gallery: Gallery, target: string) =>
  gallery.driver.driver.env.node?.store.publication(target)?.readOnly;

report('BL-125', 'attaches to one node fail for ever, and nothing is attached', async (gallery) => {
  const claim = await gallery.provision();
  for (let i = 0; i < 12; i++) {
    const seen = await gallery.call('ControllerPublishVolume', gallery.attachRequest(claim));
    expect(seen.code).toBe('DEADLINE_EXCEEDED');
    expect(seen.message).toContain('node-1 attaches nothing');
  }
  expect(gallery.isAttached(claim)).toBe(false);
});

report('BL-126', 'one claim stays unmountable until it is deleted and made anew', async (gallery) => {
  const bad = await gallery.provision({ name: 'pvc-1' });
  await gallery.attach(bad);
  for (let i = 0; i < 3; i++)
    expect((await gallery.call('NodeStageVolume', gallery.stageRequest(bad))).code).toBe('INTERNAL');
  await gallery.detach(bad);
  expect(codesOf(await gallery.delete(bad))).toBe('OK');
  const fresh = await gallery.run({ name: 'pvc-2' });
  expect(gallery.isPublished(fresh)).toBe(true);
});

report('BL-129', 'two volumes are attached to one slot, and the stage finds it out', async (gallery) => {
  const [one, two] = [await gallery.provision(), await gallery.provision()];
  for (const claim of [one, two]) await gallery.attach(claim);
  expect(one.publishContext.attachment).toBe('slot-0');
  expect(two.publishContext).toEqual(one.publishContext);
  const seen = await gallery.call('NodeStageVolume', gallery.stageRequest(two));
  expect(seen.code).toBe('FAILED_PRECONDITION');
  expect(gallery.isStaged(two)).toBe(false);
});

report(
  'BL-134',
  'a new pod on the node is read-only, too, until the volume is staged anew',
  async (gallery) => {
    const claim = await gallery.run();
    expect(readOnly(gallery, claim.target)).toBe(true);
    await gallery.unpublish(claim);
    await gallery.publish(claim);
    expect(readOnly(gallery, claim.target)).toBe(true);
    await gallery.unpublish(claim);
    await gallery.unstage(claim);
    await gallery.stage(claim);
    await gallery.publish(claim);
    expect(readOnly(gallery, claim.target)).toBe(false);
  },
);

report('BL-136', 'the volume is read-only, and the pod made anew cannot attach it', async (gallery) => {
  const claim = await gallery.run();
  expect(readOnly(gallery, claim.target)).toBe(true);
  await gallery.unpublish(claim);
  await gallery.unstage(claim);
  await gallery.detach(claim);
  expect(codesOf(await gallery.attach(claim))).toBe(`${'FAILED_PRECONDITION, '.repeat(3)}OK`);
});

report('BL-137', 'every call of the node for a volume says that the host is down', async (gallery) => {
  const claim = await gallery.provision();
  const { id, staging, target } = claim;
  const seen = [
    await gallery.call('NodeStageVolume', gallery.stageRequest(claim)),
    await gallery.call('NodePublishVolume', gallery.publishRequest(claim)),
    await gallery.call('NodeGetVolumeStats', { volume_id: id, volume_path: target }),
    await gallery.call('NodeUnpublishVolume', { volume_id: id, target_path: target }),
    await gallery.call('NodeUnstageVolume', { volume_id: id, staging_target_path: staging }),
  ];
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, INTERNAL, INTERNAL, INTERNAL');
  for (const { message } of seen) expect(message).toContain('host is down');
});

report('BL-138', 'statistics take longer than the kubelet waits, twice', async (gallery) => {
  const claim = await gallery.run();
  const look = { volume_id: claim.id, volume_path: claim.target };
  const seen = await gallery.until('NodeGetVolumeStats', look);
  expect(codesOf(seen)).toBe('DEADLINE_EXCEEDED, DEADLINE_EXCEEDED, OK');
});

report('BL-140', 'formatting takes five minutes, and goes on when the caller has left', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toMatch(/^DEADLINE_EXCEEDED, (ABORTED, )+OK$/);
  expect(gallery.clock.monotonic()).toBeGreaterThanOrEqual(5 * 60_000);
  expect(gallery.fired()).toEqual({ 'slow-format': 1 });
});

report('BL-143', 'attaches are slow, and the node is full before they are counted', async (gallery) => {
  const claim = await gallery.provision();
  const began = gallery.clock.monotonic();
  const first = await gallery.attach(claim);
  expect(first[0]?.code).toBe('DEADLINE_EXCEEDED');
  expect(first.map(({ code }) => code)).toContain('RESOURCE_EXHAUSTED');
  expect(first.at(-1)?.code).toBe('OK');
  expect(gallery.clock.monotonic() - began).toBeGreaterThan(15_000);
});

report('BL-146', 'a restore is under way for two calls, then succeeds late', async (gallery) => {
  const { request, snapshot_id } = await restore(gallery);
  expect((await gallery.call('CreateVolume', request)).code).toBe('ABORTED');
  // Its own data is still there: nothing of the restore is left behind by the refusals.
  expect([...gallery.driver.driver.env.volumes.values()]).toHaveLength(1);
  const seen = await gallery.until('CreateVolume', request, SIDECAR);
  expect(codesOf(seen)).toBe('ABORTED, OK');
  expect(seen.at(-1)?.reply?.volume?.content_source?.snapshot?.snapshot_id).toBe(snapshot_id);
});

report(
  'BL-147',
  'a restore is refused where the snapshot is not, and no lock stays behind',
  async (gallery) => {
    const { request } = await restore(gallery);
    const seen = await gallery.until('CreateVolume', request, SIDECAR);
    expect(codesOf(seen)).toBe('RESOURCE_EXHAUSTED, RESOURCE_EXHAUSTED, OK');
  },
);

report('BL-150', 'the node plugin dies with two pods on the node, and both can go', async (gallery) => {
  const pods = [await gallery.run(), await gallery.run()];
  const [first] = pods;
  const lost = await gallery.call('NodeUnpublishVolume', {
    volume_id: first?.id ?? '',
    target_path: first?.target ?? '',
  });
  expect(lost.code).toBe('UNAVAILABLE');
  expect(gallery.acts).toEqual(['exit 137']);
  await gallery.restart();
  for (const claim of pods) {
    await gallery.unpublish(claim);
    await gallery.unstage(claim);
    expect([gallery.isPublished(claim), gallery.isStaged(claim)]).toEqual([false, false]);
  }
});

report('BL-151', 'a publish fails for good, and the pod can be deleted all the same', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  await gallery.stage(claim);
  const seen = await gallery.call('NodePublishVolume', gallery.publishRequest(claim));
  expect(seen.code).toBe('INVALID_ARGUMENT');
  expect(gallery.isPublished(claim)).toBe(false);
  await gallery.end(claim);
  expect(gallery.driver.driver.env.volumes.find(claim.id)).toBeUndefined();
});
