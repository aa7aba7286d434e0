// node scripts/image.cjs: builds the image for real and tries it. Debian, as root, with docker.io and debootstrap: nothing can be
// taken for granted of a registry, so the base is made here, of Debian's packages and the node that runs this.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { gzipSync } = require('node:zlib');

const { findProgram } = require('./lib/machine.cjs');
const { Children } = require('./lib/process.cjs');
const { makeBase } = require('./lib/image/base.cjs');
const { Docker } = require('./lib/image/docker.cjs');

const root = path.join(__dirname, '..');
const IMAGE = 'fake-csi:test';
const BASE = 'fake-csi-base:test';
/** What may come on top of the base, compressed. */
const MOST_BYTES = 90e6;

const NEEDED = ['dockerd', 'docker', 'debootstrap', 'tar'];

/** Why nothing can be built here, as one sentence; null when it can. */
function problem() {
  if (process.getuid() !== 0) return 'it starts a Docker daemon of its own: run it as root';
  const missing = NEEDED.filter((name) => findProgram(name) === null);
  if (missing.length === 0) return null;
  return `${missing.join(', ')} not found: apt-get install --no-install-recommends docker.io debootstrap`;
}

const MAKE_FILESYSTEMS = `set -e; cd /tmp
for type in ext4 xfs btrfs; do truncate -s 400M $type; mkfs.$type -q $type; done
e2fsck -fp ext4; truncate -s 500M ext4; resize2fs ext4 2>&1`;

const LEFT_OVER = `ls -d /app/node_modules/typescript /app/src /app/test /app/.git /app/dist/.tsbuildinfo 2>/dev/null; true`;

/** What is tried in the image: a name, and what comes of it when it is wrong. */
const TRIALS = {
  'says its version': async (docker) => {
    const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
    const said = await docker.run(IMAGE, '--version');
    return said.trim() === version ? null : said;
  },
  'makes, checks and grows filesystems': async (docker) => {
    await docker.run('--entrypoint', 'sh', IMAGE, '-c', MAKE_FILESYSTEMS);
    return null;
  },
  'has the scenarios': async (docker) => {
    const said = await docker.run(IMAGE, 'scenario', 'validate', '/app/scenarios');
    return said.includes('valid') ? null : said;
  },
  'has nothing that only builds or tests': async (docker) => {
    const said = await docker.run('--entrypoint', 'sh', IMAGE, '-c', LEFT_OVER);
    return said.trim() === '' ? null : said;
  },
  'serves, answers its commands, and ends on SIGTERM': serves,
};

async function serves(docker) {
  const container = (await docker.run('-d', IMAGE, 'serve', '--backend', 'memory')).trim();
  try {
    // Without a driver that answers the command ends with an error; the log tells when there is one.
    await docker.logged(container, /fake-csi \S+ serves/);
    const said = await docker.say('exec', container, 'fake-csi', 'status');
    if (!/^all-\w+ +1 /m.test(said)) return said;
    await docker.say('stop', '--time', '20', container);
    const code = (await docker.say('inspect', '--format', '{{.State.ExitCode}}', container)).trim();
    return code === '0' ? null : `exit code ${code}`;
  } finally {
    await docker.say('rm', '--force', container);
  }
}

/** Bytes of the layers above the base: as they lie on disk, and compressed. */
async function sizes(docker, folder) {
  const archive = path.join(folder, 'image.tar');
  const unpacked = path.join(folder, 'image');
  fs.mkdirSync(unpacked);
  await docker.say('save', '--output', archive, IMAGE);
  await docker.tar('-xf', archive, '-C', unpacked);
  const [{ Layers }] = JSON.parse(fs.readFileSync(path.join(unpacked, 'manifest.json'), 'utf8'));
  const layers = Layers.slice(1).map((layer) => fs.readFileSync(path.join(unpacked, layer)));
  return {
    bytes: layers.reduce((sum, layer) => sum + layer.length, 0),
    compressed: layers.reduce((sum, layer) => sum + gzipSync(layer).length, 0),
  };
}

async function tryAll(docker, folder) {
  let failed = 0;
  const say = (name, wrong) => {
    if (wrong !== null) failed += 1;
    console.log(`${wrong === null ? 'ok  ' : 'FAIL'} ${name}${wrong === null ? '' : `: ${wrong.trim()}`}`);
  };
  for (const [name, trial] of Object.entries(TRIALS))
    say(name, await trial(docker).catch((error) => error.message));
  const { bytes, compressed } = await sizes(docker, folder);
  const size = `${(bytes / 1e6).toFixed(1)} MB on top of the base, ${(compressed / 1e6).toFixed(1)} MB compressed`;
  say(
    `is small: ${size}`,
    compressed <= MOST_BYTES ? null : `expected at most ${MOST_BYTES / 1e6} MB compressed`,
  );
  return { passed: Object.keys(TRIALS).length + 1 - failed, failed };
}

async function main() {
  const why = problem();
  if (why !== null) {
    console.error(`image: ${why}`);
    return 1;
  }
  const children = new Children();
  // Short: a daemon's socket has 107 bytes.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fc-image-'));
  const clean = () => fs.rmSync(folder, { recursive: true, force: true });
  children.stopWithUs(clean);
  const docker = new Docker(children, folder);
  try {
    await docker.start();
    console.log('making the base (debootstrap)');
    await docker.import(await makeBase(children, root), BASE);
    console.log('building the image (docker build)');
    await docker.build(root, { tag: IMAGE, base: BASE });
    const { passed, failed } = await tryAll(docker, folder);
    console.log(`\n${passed} passed, ${failed} failed`);
    return failed > 0 ? 1 : 0;
  } finally {
    await docker.stop();
    clean();
  }
}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(`image: ${error.message}`);
    process.exit(1);
  },
);
