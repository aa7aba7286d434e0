import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { codesOf, Gallery } from '../../support/gallery';
import { galleryFile } from '../../support/gallery-files';

/** A shipped file as a user would change it: what is written below `spec:` comes first. */
async function withCopy(name: string, spec: string, use: (gallery: Gallery) => Promise<void>): Promise<void> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'fake-csi-gallery-'));
  const file = path.join(folder, `${name}.yaml`);
  fs.writeFileSync(
    file,
    fs.readFileSync(galleryFile(name), 'utf8').replace('\nspec:\n', `\nspec:\n${spec}\n`),
  );
  const gallery = await Gallery.start(name, { scenarios: [file] });
  try {
    await use(gallery);
  } finally {
    await gallery.close();
    fs.rmSync(folder, { recursive: true });
  }
}

const stagesOf = async (gallery: Gallery, parameters: Record<string, string> = {}) => {
  const claim = await gallery.provision({ parameters });
  await gallery.attach(claim);
  return codesOf(await gallery.stage(claim));
};

it('acts on the volumes of a StorageClass that names it, and on no others, when it is not enabled', async () => {
  await withCopy('stage-final-error', '  enabled: false', async (gallery) => {
    expect(await stagesOf(gallery)).toBe('OK');
    expect(await stagesOf(gallery, { scenario: 'stage-final-error' })).toBe(
      'INTERNAL, INTERNAL, INTERNAL, OK',
    );
    expect(await stagesOf(gallery, { scenario: 'another' })).toBe('OK');
  });
});

it('acts on so many volumes as its limits say', async () => {
  await withCopy('stage-final-error', '  limits: {maxVolumes: 1}', async (gallery) => {
    expect(await stagesOf(gallery)).toBe('INTERNAL, INTERNAL, INTERNAL, OK');
    expect(await stagesOf(gallery)).toBe('OK');
  });
});

it('says nothing of itself when it is discreet', async () => {
  await withCopy('stage-final-error', '  discreet: true', async (gallery) => {
    const claim = await gallery.provision();
    await gallery.attach(claim);
    const { message } = await gallery.call('NodeStageVolume', gallery.stageRequest(claim));
    expect(message).toBe(`mount of ${claim.id} failed: input/output error`);
  });
});
