import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { type Claim, codesOf, type Gallery } from '../../support/gallery';
import { useMachine } from '../../support/machine';
import { scene as onMachine } from './scene';

const machine = useMachine();
const scene = (name: string, title: string, story: (gallery: Gallery) => Promise<void>) =>
  onMachine(machine, name, title, story);

const EXT4 = { fsType: 'ext4' };
const mountsAt = async (at: string) => (await machine.mountsAt(at)).length;

async function leave(gallery: Gallery, claim: Claim): Promise<void> {
  await gallery.unpublish(claim);
  await gallery.unstage(claim);
  await gallery.detach(claim);
}

scene('lost-answer', 'mounts once for two calls', async (gallery) => {
  const claim = await gallery.provision(EXT4);
  await gallery.attach(claim);
  expect((await gallery.call('NodeStageVolume', gallery.stageRequest(claim))).code).toBe('DEADLINE_EXCEEDED');
  expect(await mountsAt(claim.staging)).toBe(1);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  expect(await mountsAt(claim.staging)).toBe(1);
  await leave(gallery, claim);
});

scene('late-mount', 'appears when nobody waits for it any more', async (gallery) => {
  const claim = await gallery.provision(EXT4);
  await gallery.attach(claim);
  expect((await gallery.call('NodeStageVolume', gallery.stageRequest(claim))).code).toBe('DEADLINE_EXCEEDED');
  expect((await gallery.call('NodeStageVolume', gallery.stageRequest(claim))).code).toBe('ABORTED');
  expect(await mountsAt(claim.staging)).toBe(0);
  await gallery.pass(30_000);
  expect(await mountsAt(claim.staging)).toBe(1);
  expect((await gallery.call('NodeStageVolume', gallery.stageRequest(claim))).code).toBe('OK');
  await leave(gallery, claim);
});

scene('not-visible', 'lets the pod write to the disk of the node', async (gallery) => {
  const claim = await gallery.run(EXT4);
  expect(await mountsAt(claim.target)).toBe(0);
  // As a container runtime makes what is missing.
  await fs.mkdir(claim.target);
  await fs.writeFile(path.join(claim.target, 'data'), 'on the node');
  expect(await fs.readdir(claim.staging)).not.toContain('data');
  await fs.rm(claim.target, { recursive: true });
  await gallery.unpublish(claim);
  await gallery.publish(claim);
  expect(await mountsAt(claim.target)).toBe(1);
  await leave(gallery, claim);
});

scene('publish-read-only', 'refuses the pod its writes', async (gallery) => {
  const claim = await gallery.run(EXT4);
  await expect(fs.writeFile(path.join(claim.target, 'data'), 'x')).rejects.toMatchObject({ code: 'EROFS' });
  await gallery.unpublish(claim);
  await gallery.publish(claim);
  await fs.writeFile(path.join(claim.target, 'data'), 'x');
  await leave(gallery, claim);
});

scene('fsgroup-ignored', 'leaves the disk to root', async (gallery) => {
  const claim = await gallery.run({ ...EXT4, group: '2000' });
  const groupOf = async () => (await fs.stat(claim.target)).gid;
  expect(await groupOf()).toBe(0);
  await leave(gallery, claim);
  await gallery.attach(claim);
  await gallery.stage(claim);
  await gallery.publish(claim);
  expect(await groupOf()).toBe(2000);
  await leave(gallery, claim);
});

scene('unpublish-ok-mount-left', 'keeps the mount until it is asked again', async (gallery) => {
  const claim = await gallery.run(EXT4);
  expect(codesOf(await gallery.unpublish(claim))).toBe('OK');
  expect(await mountsAt(claim.target)).toBe(1);
  await leave(gallery, claim);
  expect(await mountsAt(claim.target)).toBe(0);
});

scene('unstage-ok-mount-left', 'is detached while it is mounted', async (gallery) => {
  const claim = await gallery.run(EXT4);
  await leave(gallery, claim);
  expect(gallery.isAttached(claim)).toBe(false);
  expect(await mountsAt(claim.staging)).toBe(1);
  await gallery.attach(claim);
  await gallery.stage(claim);
  expect(await mountsAt(claim.staging)).toBe(1);
  await leave(gallery, claim);
  expect(await mountsAt(claim.staging)).toBe(0);
});

scene('stage-final-but-mounted', 'is mounted and says that it is not', async (gallery) => {
  const claim = await gallery.provision(EXT4);
  await gallery.attach(claim);
  expect((await gallery.call('NodeStageVolume', gallery.stageRequest(claim))).code).toBe('INTERNAL');
  expect(await mountsAt(claim.staging)).toBe(1);
  await gallery.unstage(claim);
  await gallery.detach(claim);
});
