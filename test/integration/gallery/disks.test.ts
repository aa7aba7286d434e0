import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { type Claim, codesOf, type Gallery, type Seen, type StageOptions } from '../../support/gallery';
import { MIB } from '../../support/lifecycle';
import { useMachine } from '../../support/machine';
import { scene as onMachine } from './scene';

const machine = useMachine();
const scene = (name: string, title: string, story: (gallery: Gallery) => Promise<void>) =>
  onMachine(machine, name, title, story);

const EXT4: StageOptions = { fsType: 'ext4' };
const XFS: StageOptions = { fsType: 'xfs', size: 300 * MIB };

/** What mount(8) says of a superblock that the filesystem does not know. */
const WRONG_FS = /wrong fs type, bad option, bad superblock on \/dev\/loop\d+, missing codepage/;

async function attached(gallery: Gallery, options: StageOptions): Promise<Claim> {
  const claim = await gallery.provision(options);
  await gallery.attach(claim);
  return claim;
}

/** The tries that failed, each in the kernel's words and with nothing left of it, and one that did not. */
function refused(seen: Seen[], times: number, words: RegExp): void {
  expect(codesOf(seen)).toBe(`${'INTERNAL, '.repeat(times)}OK`);
  for (const { message } of seen.slice(0, times)) expect(message).toMatch(words);
}

async function leave(gallery: Gallery, claim: Claim): Promise<void> {
  await gallery.unstage(claim);
  await gallery.detach(claim);
}

/** Staged, written to, and unstaged: a volume that was used before. */
async function used(gallery: Gallery, options: StageOptions): Promise<Claim> {
  const claim = await gallery.run(options);
  await fs.writeFile(path.join(claim.target, 'mark'), 'kept');
  await gallery.unpublish(claim);
  await leave(gallery, claim);
  await gallery.attach(claim);
  return claim;
}

const mark = (claim: Claim) => fs.readFile(path.join(claim.target, 'mark'), 'utf8').catch(() => undefined);

scene('wrong-fstype', 'shows xfs to who asks for ext4, twice', async (gallery) => {
  const claim = await attached(gallery, EXT4);
  refused(await gallery.stage(claim), 2, WRONG_FS);
  await leave(gallery, claim);
});

scene('missing-device', 'has no device for five tries', async (gallery) => {
  const claim = await attached(gallery, EXT4);
  const began = gallery.clock.monotonic();
  refused(await gallery.stage(claim), 5, /special device \/dev\/disk\/by-id\/fake-csi-\S+ does not exist\./);
  expect(gallery.clock.monotonic() - began).toBe(15_500);
  await leave(gallery, claim);
});

scene('bad-mount-option', 'asks the kernel for an option that it does not know', async (gallery) => {
  const claim = await attached(gallery, EXT4);
  const seen = await gallery.stage(claim);
  expect(codesOf(seen)).toBe('INVALID_ARGUMENT, INVALID_ARGUMENT, OK');
  expect(seen[0]?.message).toContain('mount_flags: the option "nosuchoption" was refused: mount: ');
  await leave(gallery, claim);
});

scene('blank-disk', 'empties a volume that was used', async (gallery) => {
  const claim = await used(gallery, EXT4);
  expect(codesOf(await gallery.stage(claim))).toBe('OK');
  await gallery.publish(claim);
  expect(await mark(claim)).toBeUndefined();
  await fs.writeFile(path.join(claim.target, 'mark'), 'new');
  await gallery.unpublish(claim);
  await leave(gallery, claim);
  await gallery.attach(claim);
  await gallery.stage(claim);
  await gallery.publish(claim);
  expect(await mark(claim)).toBe('new');
  await gallery.end(claim);
});

scene('corrupt-filesystem', 'makes a volume that was used unmountable for good', async (gallery) => {
  const claim = await used(gallery, EXT4);
  for (let i = 0; i < 3; i++) {
    const { code, message } = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
    expect(code).toBe('INTERNAL');
    expect(message).toMatch(
      /cannot mount; probably corrupted filesystem on \/dev\/loop\d+|Structure needs cleaning|bad superblock/,
    );
  }
  await leave(gallery, claim);
  // One volume is enough: limits.maxVolumes.
  const other = await used(gallery, EXT4);
  expect(codesOf(await gallery.stage(other))).toBe('OK');
  await leave(gallery, other);
});

scene('dirty-log-read-only-device', 'refuses a read-only mount of a journal in need', async (gallery) => {
  const claim = await attached(gallery, { ...EXT4, mode: 'SINGLE_NODE_READER_ONLY' });
  refused(await gallery.stage(claim), 2, /cannot mount \/dev\/loop\d+ read-only\./);
  await leave(gallery, claim);
});

scene('duplicate-uuid', 'meets its own twin', async (gallery) => {
  const claim = await attached(gallery, XFS);
  refused(await gallery.stage(claim), 2, WRONG_FS);
  await leave(gallery, claim);
});

scene('truncated-disk', 'loses half of a disk', async (gallery) => {
  const claim = await used(gallery, EXT4);
  for (let i = 0; i < 2; i++) {
    const { code, message } = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
    expect([code, message]).toEqual(['INTERNAL', expect.stringMatching(/bad superblock|read superblock/)]);
  }
  await leave(gallery, claim);
});

scene('read-only-device', 'is write-protected three times', async (gallery) => {
  const claim = await attached(gallery, EXT4);
  refused(await gallery.stage(claim), 3, /read-only|write-protected/);
  await leave(gallery, claim);
});
