import { codesOf, type Gallery, injected } from '../../support/gallery';
import { scene } from './scene';

const register = (gallery: Gallery) => gallery.until('NodeGetInfo', {});

scene('node-info-fails', 'lets the fourth registration through', async (gallery) => {
  const seen = await register(gallery);
  expect(codesOf(seen)).toBe('UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, OK');
  expect(seen[0]?.message).toEqual(injected('node-info-fails', 'warming-up', '1 of 3'));
  expect(seen.at(-1)?.reply?.node_id).toBe('node-1');
});

scene('node-id-empty', 'has no name at two registrations, then its own', async (gallery) => {
  const ids: (string | undefined)[] = [];
  for (let i = 0; i < 3; i++) ids.push((await gallery.call('NodeGetInfo', {})).reply?.node_id);
  expect(ids).toEqual(['', '', 'node-1']);
});

scene('topology-collision', 'moves to another rack and comes back', async (gallery) => {
  const segments: unknown[] = [];
  for (let i = 0; i < 4; i++)
    segments.push((await gallery.call('NodeGetInfo', {})).reply?.accessible_topology?.segments);
  const at = (rack: string) => ({ 'topology.fake.csi.test/zone': 'a', 'topology.fake-csi/rack': rack });
  expect(segments).toEqual([at('one'), at('two'), at('two'), at('one')]);
});

scene('node-limit-shrinks', 'reports a limit of one for a while', async (gallery) => {
  const limits: (string | undefined)[] = [];
  for (let i = 0; i < 5; i++)
    limits.push((await gallery.call('NodeGetInfo', {})).reply?.max_volumes_per_node);
  expect(limits).toEqual(['0', '1', '1', '1', '0']);
});

scene('wrong-driver-name', 'tells the first one who asks another name', async (gallery) => {
  const names: (string | undefined)[] = [];
  for (let i = 0; i < 2; i++) names.push((await gallery.call('GetPluginInfo', {})).reply?.name);
  expect(names).toEqual(['wrong.fake-csi.test', 'fake.csi.test']);
});

scene('probe-not-ready', 'is not ready for two minutes', async (gallery) => {
  const isReady = async () => (await gallery.call('Probe', {})).reply?.ready?.value;
  expect(await isReady()).toBe(false);
  await gallery.clock.advance(119_000);
  expect(await isReady()).toBe(false);
  await gallery.clock.advance(1_000);
  expect(await isReady()).toBe(true);
});

scene('capabilities-error', 'fails six questions', async (gallery) => {
  const seen = await gallery.until('NodeGetCapabilities', {});
  expect(codesOf(seen)).toBe(`${'UNAVAILABLE, '.repeat(6)}OK`);
  expect(seen[5]?.message).toEqual(injected('capabilities-error', 'no-answer', '6 of 6'));
});

scene('capabilities-flap', 'forgets staging between unpublish and unstage', async (gallery) => {
  const canStage = async () => {
    const { reply, message } = await gallery.call('NodeGetCapabilities', {});
    expect(message).toBe('');
    return reply?.capabilities?.some(
      ({ rpc }) => `${rpc?.type}` === 'STAGE_UNSTAGE_VOLUME' || rpc?.type === 1,
    );
  };
  const claim = await gallery.run();
  expect(await canStage()).toBe(true);
  await gallery.unpublish(claim);
  // The kubelet asks here whether to unstage.
  expect(await canStage()).toBe(false);
  await gallery.detach(claim);
  expect(gallery.isStaged(claim)).toBe(true);
  expect(gallery.isAttached(claim)).toBe(false);
  expect(await canStage()).toBe(true);
  await gallery.attach(claim);
  await gallery.stage(claim);
  await gallery.unstage(claim);
  expect(gallery.isStaged(claim)).toBe(false);
});
