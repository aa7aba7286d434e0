import { codesOf, type Gallery, injected } from '../../support/gallery';
import { MIB } from '../../support/lifecycle';
import { SIDECAR } from '../../support/patience';
import { scene } from './scene';

const grow = (gallery: Gallery, id: string) =>
  gallery.until(
    'ControllerExpandVolume',
    { volume_id: id, capacity_range: { required_bytes: `${128 * MIB}` } },
    SIDECAR,
  );

const capacityOf = (gallery: Gallery, id: string) =>
  gallery.driver.driver.env.volumes.find(id)?.capacityBytes;

scene('expand-fails-controller', 'grows at the fourth try', async (gallery) => {
  const { id } = await gallery.provision();
  const seen = await grow(gallery, id);
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
  expect(seen[0]?.message).toBe(
    `[scenario expand-fails-controller: rule no-growth, 1 of 3] pool cannot grow ${id} now`,
  );
  expect(Number(capacityOf(gallery, id))).toBe(128 * MIB);
});

scene('expand-out-of-range', 'says how much is too much', async (gallery) => {
  const { id } = await gallery.provision();
  const seen = await grow(gallery, id);
  expect(codesOf(seen)).toBe('OUT_OF_RANGE, OUT_OF_RANGE, OK');
  expect(seen[0]?.message).toContain(`${128 * MIB} bytes are more than a volume of this pool may have`);
});

scene('expand-fails-node', 'has a larger disk and the old filesystem for a while', async (gallery) => {
  const claim = await gallery.run();
  await grow(gallery, claim.id);
  const seen = await gallery.until('NodeExpandVolume', {
    volume_id: claim.id,
    volume_path: claim.target,
    staging_target_path: claim.staging,
    capacity_range: { required_bytes: `${128 * MIB}` },
  });
  expect(codesOf(seen)).toBe('INTERNAL, INTERNAL, OK');
  expect(seen[1]?.message).toEqual(injected('expand-fails-node', 'no-growfs', '2 of 2'));
  expect(Number(seen[2]?.reply?.capacity_bytes)).toBe(128 * MIB);
});

const look = (gallery: Gallery, { id, target }: { id: string; target: string }) =>
  gallery.until('NodeGetVolumeStats', { volume_id: id, volume_path: target });

scene('stats-hang', 'gives two looks no answer', async (gallery) => {
  const claim = await gallery.run();
  expect(codesOf(await look(gallery, claim))).toBe('DEADLINE_EXCEEDED, DEADLINE_EXCEEDED, OK');
  expect(gallery.clock.monotonic()).toBe(2 * 120_000 + 1_500);
});

scene('stats-absurd', 'uses more than there is, three times', async (gallery) => {
  const claim = await gallery.run();
  const used: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    const [bytes] = (await look(gallery, claim)).at(-1)?.reply?.usage ?? [];
    used.push(BigInt(bytes?.used ?? 0) > BigInt(bytes?.total ?? 0) && BigInt(bytes?.available ?? 0) < 0n);
  }
  expect(used).toEqual([true, true, true, false]);
});

scene('stats-abnormal-condition', 'is unwell three times', async (gallery) => {
  const claim = await gallery.run();
  const conditions: unknown[] = [];
  for (let i = 0; i < 4; i++)
    conditions.push((await look(gallery, claim)).at(-1)?.reply?.volume_condition?.abnormal);
  expect(conditions).toEqual([true, true, true, false]);
});
