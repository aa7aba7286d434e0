import { codesOf, injected } from '../../support/gallery';
import { ATTACHER } from '../../support/patience';
import { scene } from './scene';

scene('slow-attach', 'attaches behind the back of a caller who gave up', async (gallery) => {
  const claim = await gallery.provision();
  const began = gallery.clock.monotonic();
  const seen = await gallery.attach(claim);
  expect(codesOf(seen)).toBe('DEADLINE_EXCEEDED, ABORTED, ABORTED, ABORTED, ABORTED, OK');
  expect(gallery.clock.monotonic() - began).toBe(15_000 + 31_000);
  await gallery.stage(claim);
});

scene('stuck-attaching', 'fails three times, is slow once, and attaches', async (gallery) => {
  const claim = await gallery.provision();
  const seen = await gallery.attach(claim);
  expect(codesOf(seen)).toBe(`${'DEADLINE_EXCEEDED, '.repeat(4)}OK`);
  expect(seen[0]?.message).toEqual(injected('stuck-attaching', 'slow', '1 of 3'));
  expect(seen[0]?.message).toContain(`attach of ${claim.id} to node-1 is pending`);
  // The fourth one's own deadline, and 1 + 2 + 4 + 8 seconds between the five.
  expect(gallery.clock.monotonic()).toBe(15_000 + 15_000);
  await gallery.stage(claim);
});

scene('attach-hangs', 'gives six calls no answer', async (gallery) => {
  const claim = await gallery.provision();
  const hung = await gallery.call('ControllerPublishVolume', gallery.attachRequest(claim), ATTACHER);
  expect(hung.code).toBe('DEADLINE_EXCEEDED');
  expect(gallery.isAttached(claim)).toBe(false);
  expect(codesOf(await gallery.attach(claim))).toBe(`${'DEADLINE_EXCEEDED, '.repeat(5)}OK`);
  expect(gallery.isAttached(claim)).toBe(true);
  await gallery.stage(claim);
});

scene('attach-fails', 'says why it does not attach', async (gallery) => {
  const claim = await gallery.provision();
  const seen = await gallery.attach(claim);
  expect(codesOf(seen)).toBe(`${'PERMISSION_DENIED, '.repeat(4)}OK`);
  expect(seen[3]?.message).toBe(
    `[scenario attach-fails: rule refused, 4 of 4] the account of this cluster may not attach ${claim.id}`,
  );
});

scene('attach-limit', 'has room for two volumes on a node', async (gallery) => {
  for (let i = 0; i < 2; i++) expect(codesOf(await gallery.attach(await gallery.provision()))).toBe('OK');
  const third = await gallery.provision();
  const seen = await gallery.attach(third);
  expect(codesOf(seen)).toBe(`${'RESOURCE_EXHAUSTED, '.repeat(8)}OK`);
  expect(seen[0]?.message).toBe('[scenario attach-limit: rule full, 1] node node-1 has no attachment left');
});

scene('publish-context-wrong', 'lets the stage fail until the volume is attached anew', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  const failed = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
  expect(failed).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('publish_context["attachment"]: this is not what'),
  });
  expect(gallery.isStaged(claim)).toBe(false);
  await gallery.detach(claim);
  await gallery.attach(claim);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
});

scene('detach-hangs', 'keeps the volume attached through three calls', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  const seen = await gallery.call(
    'ControllerUnpublishVolume',
    { volume_id: claim.id, node_id: 'node-1' },
    ATTACHER,
  );
  expect(seen.code).toBe('DEADLINE_EXCEEDED');
  expect(gallery.isAttached(claim)).toBe(true);
  expect(codesOf(await gallery.detach(claim))).toBe('DEADLINE_EXCEEDED, DEADLINE_EXCEEDED, OK');
  expect(gallery.isAttached(claim)).toBe(false);
});

scene('detach-fails', 'keeps the volume from other nodes', async (gallery) => {
  const claim = await gallery.provision();
  await gallery.attach(claim);
  const failed = await gallery.call('ControllerUnpublishVolume', { volume_id: claim.id, node_id: 'node-1' });
  expect(failed.message).toEqual(injected('detach-fails', 'held', '1 of 5'));
  expect(gallery.isAttached(claim)).toBe(true);
  const seen = await gallery.detach(claim);
  expect(codesOf(seen)).toBe(`${'INTERNAL, '.repeat(4)}OK`);
  expect(gallery.isAttached(claim)).toBe(false);
});
