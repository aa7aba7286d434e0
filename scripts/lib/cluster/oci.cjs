// Container images without a daemon: an OCI image layout, as a tar archive for `ctr images import`.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { must } = require('./command.cjs');

const TYPES = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/** A tar archive of a folder as one of its own root: everything is root's. */
async function writeLayer(file, folder) {
  await must([
    'tar',
    '--create',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--file',
    file,
    '--directory',
    folder,
    '.',
  ]);
}

function sha256(bytes) {
  return crypto.createHash('sha256').update(bytes).digest('hex');
}

function addBlob(layout, bytes, mediaType) {
  const digest = sha256(bytes);
  fs.writeFileSync(path.join(layout, 'blobs/sha256', digest), bytes);
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
}

function addJson(layout, content, mediaType) {
  return addBlob(layout, Buffer.from(JSON.stringify(content)), mediaType);
}

/**
 * @param {object} image `reference` in full (with registry and tag), `tree` (folder that becomes its one layer), and
 *   `config`: Entrypoint, Cmd, Env … of the OCI image configuration.
 * @param {string} file the archive. It is there whole or not at all.
 */
async function writeImage({ reference, tree, config }, file) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-image-'));
  try {
    const layout = path.join(scratch, 'layout');
    fs.mkdirSync(path.join(layout, 'blobs/sha256'), { recursive: true });
    await writeLayer(path.join(scratch, 'layer'), tree);
    const layer = addBlob(layout, fs.readFileSync(path.join(scratch, 'layer')), TYPES.layer);
    const description = {
      architecture: ARCHITECTURES[process.arch],
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: TYPES.manifest,
      config: addJson(layout, description, TYPES.config),
      layers: [layer],
    };
    // By this annotation containerd names it.
    const annotations = { 'io.containerd.image.name': reference };
    const index = {
      schemaVersion: 2,
      manifests: [{ ...addJson(layout, manifest, TYPES.manifest), annotations }],
    };
    fs.writeFileSync(path.join(layout, 'index.json'), JSON.stringify(index));
    fs.writeFileSync(path.join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await must(['tar', '--create', '--file', `${file}.new`, '--directory', layout, '.']);
    fs.renameSync(`${file}.new`, file);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

module.exports = { writeImage, writeLayer };
