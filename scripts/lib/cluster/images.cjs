// The images a cluster has without any registry: of our own programs, of Debian's busybox, and of the sidecars.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { findProgram } = require('../machine.cjs');
const { must } = require('./command.cjs');
const { PAUSE } = require('./configuration.cjs');
const { driverArchive } = require('./driver-image.cjs');
const { writeImage } = require('./oci.cjs');
const { cacheFolder, programsOf } = require('./programs.cjs');

const SIDECARS = 'registry.k8s.io/sig-storage';
/** The name the examples ask for. Debian's version may be another: nothing here depends on it. */
const BUSYBOX = 'docker.io/library/busybox:1.36';

/** A tree with one program in its root, which runs as the image's entrypoint. */
function oneProgram({ name, file }, tree) {
  fs.copyFileSync(file, path.join(tree, name));
  fs.chmodSync(path.join(tree, name), 0o755);
  return { Entrypoint: [`/${name}`] };
}

/** Debian's static busybox under the names of all its applets. */
async function busybox(tree) {
  const program = findProgram('busybox');
  const bin = path.join(tree, 'bin');
  for (const folder of ['bin', 'etc', 'tmp', 'root', 'var']) fs.mkdirSync(path.join(tree, folder));
  fs.chmodSync(path.join(tree, 'tmp'), 0o1777);
  fs.copyFileSync(program, path.join(bin, 'busybox'));
  const names = (await must([program, '--list'])).trim().split('\n');
  for (const name of names.filter((one) => one !== 'busybox'))
    fs.symlinkSync('busybox', path.join(bin, name));
  fs.writeFileSync(path.join(tree, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  fs.writeFileSync(path.join(tree, 'etc/group'), 'root:x:0:\n');
  return { Env: ['PATH=/bin'], Cmd: ['sh'] };
}

/** Every image that can be made here: its reference, its archive in the cache, and what makes its tree. */
function images() {
  const sidecars = programsOf('sidecars');
  const pause = programsOf('kubernetes').programs.find(({ name }) => name === 'pause');
  const of = (program, reference) => ({
    reference,
    archive: `${program.file}.tar`,
    fill: (tree) => oneProgram(program, tree),
  });
  return [
    of(pause, PAUSE),
    { reference: BUSYBOX, archive: path.join(cacheFolder(), 'busybox.tar'), fill: busybox },
    ...(sidecars.complete ? sidecars.programs : []).map((program) =>
      of(program, `${SIDECARS}/${program.name}:${program.version}`),
    ),
  ];
}

async function makeImage({ reference, archive, fill }) {
  const tree = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-csi-tree-'));
  try {
    fs.mkdirSync(path.dirname(archive), { recursive: true });
    // mkdtemp's is for its owner alone; the root of an image is everybody's.
    fs.chmodSync(tree, 0o755);
    await writeImage({ reference, tree, config: await fill(tree) }, archive);
  } finally {
    fs.rmSync(tree, { recursive: true, force: true });
  }
}

/** @returns {Promise<string[]>} archives of all that can be had without building anything more; the driver's if it was made. */
async function makeImages() {
  const all = images();
  for (const image of all) if (!fs.existsSync(image.archive)) await makeImage(image);
  return [...all.map(({ archive }) => archive), ...[driverArchive()].filter((file) => fs.existsSync(file))];
}

module.exports = { makeImages };
