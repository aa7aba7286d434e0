// The driver's image: the one of the Dockerfile, with the checkout as it is now on top. Docker takes minutes and is asked
// again only when what it installs is another; a change of the driver is a new last layer, and takes seconds.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { makeBase } = require('../image/base.cjs');
const { Docker } = require('../image/docker.cjs');
const { build } = require('../prepare.cjs');
const { Children } = require('../process.cjs');
const { must } = require('./command.cjs');
const { writeLayer } = require('./oci.cjs');
const { IMAGE_PACKAGES, ensurePackages } = require('./packages.cjs');
const { cacheFolder } = require('./programs.cjs');

const ROOT = path.join(__dirname, '../../..');

/** The name in deploy/versions. */
const IMAGE = 'fake-csi:dev';
const BASE = 'fake-csi-base:dev';

/** Of the checkout, as the Dockerfile takes them. */
const PARTS = ['package.json', 'proto', 'scenarios', 'deploy', 'dist'];
/** Of dist, what only the build needs. */
const LEFT_OUT = ['.built', '.tsbuildinfo'];

function driverArchive() {
  return path.join(cacheFolder(), 'driver.tar');
}

/** The folder of what Docker built, by what goes into it beside the driver's own code. */
function dockerBuilt() {
  const hash = crypto.createHash('sha256').update(process.version);
  for (const name of ['Dockerfile', 'package-lock.json']) hash.update(fs.readFileSync(path.join(ROOT, name)));
  return path.join(cacheFolder(), `driver-${hash.digest('hex').slice(0, 16)}`);
}

/** `docker build` and `docker save`, unpacked into `folder`. */
async function buildWithDocker(folder, say) {
  const children = new Children();
  // Short: a daemon's socket has 107 bytes.
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'fc-image-'));
  const release = children.stopWithUs(() => fs.rmSync(scratch, { recursive: true, force: true }));
  const docker = new Docker(children, scratch);
  try {
    await docker.start();
    say('making the base (debootstrap)');
    await docker.import(await makeBase(children, ROOT), BASE);
    say('building the image (docker build)');
    await docker.build(ROOT, { tag: IMAGE, base: BASE });
    await docker.say('save', '--output', path.join(scratch, 'image.tar'), IMAGE);
    fs.rmSync(`${folder}.new`, { recursive: true, force: true });
    fs.mkdirSync(`${folder}.new`, { recursive: true });
    await must([
      'tar',
      '--extract',
      '--file',
      path.join(scratch, 'image.tar'),
      '--directory',
      `${folder}.new`,
    ]);
    fs.renameSync(`${folder}.new`, folder);
  } finally {
    await docker.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
    release();
  }
}

/** The driver as it is now, where the Dockerfile puts it; what was in those folders before is hidden. */
function fillTree(tree) {
  for (const part of PARTS) {
    const to = path.join(tree, 'app', part);
    const filter = (file) => !LEFT_OUT.includes(path.basename(file));
    fs.cpSync(path.join(ROOT, part), to, { recursive: true, filter });
    // The sign of an opaque folder in a layer.
    if (fs.statSync(to).isDirectory()) fs.writeFileSync(path.join(to, '.wh..wh..opq'), '');
  }
  fs.chmodSync(path.join(tree, 'app/dist/cli/main.js'), 0o755);
}

/** What `docker save` wrote, with one layer more. */
async function addLayer(saved, layer, file) {
  const read = (name) => JSON.parse(fs.readFileSync(path.join(saved, name), 'utf8'));
  const [manifest] = read('manifest.json');
  const config = read(manifest.Config);
  const digest = crypto.createHash('sha256').update(fs.readFileSync(layer)).digest('hex');
  config.rootfs.diff_ids.push(`sha256:${digest}`);
  config.history.push({ created: config.created, created_by: 'npm run cluster -- image' });
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-driver-'));
  try {
    const write = (name, content) => fs.writeFileSync(path.join(scratch, name), JSON.stringify(content));
    write('config.json', config);
    const layers = [...manifest.Layers, `${digest}.tar`];
    write('manifest.json', [{ Config: 'config.json', RepoTags: [IMAGE], Layers: layers }]);
    fs.copyFileSync(layer, path.join(scratch, `${digest}.tar`));
    const own = ['config.json', 'manifest.json', `${digest}.tar`];
    await must([
      ...['tar', '--create', '--file', `${file}.new`],
      ...['--directory', saved, ...manifest.Layers, '--directory', scratch, ...own],
    ]);
    fs.renameSync(`${file}.new`, file);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Makes the image of the checkout as it is now; compiles it first.
 * @returns {Promise<string>} its archive, which `up` imports from then on.
 */
async function makeDriverImage(say) {
  await ensurePackages(IMAGE_PACKAGES, say);
  await build(ROOT, { say, children: new Children() });
  const saved = dockerBuilt();
  if (!fs.existsSync(saved)) await buildWithDocker(saved, say);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-driver-'));
  try {
    const tree = path.join(scratch, 'tree');
    fs.mkdirSync(tree);
    fillTree(tree);
    await writeLayer(path.join(scratch, 'layer'), tree);
    await addLayer(saved, path.join(scratch, 'layer'), driverArchive());
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  return driverArchive();
}

module.exports = { driverArchive, makeDriverImage };
