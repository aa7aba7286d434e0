// The files of the guest's root: those of Debian packages as they are installed here, the libraries they link to, node,
// node_modules, and the kernel's storage modules.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { run } = require('./run.cjs');

/** Not wanted in the guest: documentation and translations. */
const NOT_WANTED = /^\/usr\/share\/(doc|man|info|locale|lintian|bash-completion|zoneinfo|initramfs-tools)\//;

/** Packages of node_modules that no test runs and that are half of its size. */
const NOT_WANTED_MODULES = ['@biomejs', '@typescript', 'typescript'];

/** What of /lib/modules goes in: storage and what it depends on. */
const KERNEL_MODULES = [
  'arch',
  'block',
  'crypto',
  'drivers/block',
  'drivers/char',
  'drivers/md',
  'drivers/virtio',
  'fs',
  'lib',
];

/** What no package owns, or what on the host is the host's own. */
const SETTINGS = {
  '/etc/passwd': 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  '/etc/group': 'root:x:0:\ndisk:x:6:\nnogroup:x:65534:\n',
  '/etc/hosts': '127.0.0.1 localhost fake-csi-guest\n::1 localhost\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  '/etc/fstab': '',
};

const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
const EMPTY_FOLDERS = [
  'dev',
  'proc',
  'sys',
  'run',
  'tmp',
  'root',
  'mnt',
  'etc',
  'var/tmp',
  'var/lib/kubelet',
];

/** dpkg knows some files by their names in /bin, /lib or /sbin, which are links into /usr. */
function inUsr(file) {
  return MERGED.includes(file.split('/')[1]) ? `/usr${file}` : file;
}

function isElf(file) {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const magic = Buffer.alloc(4);
  const fd = fs.openSync(file, 'r');
  try {
    fs.readSync(fd, magic, 0, 4, 0);
  } finally {
    fs.closeSync(fd);
  }
  return magic.equals(Buffer.from('\x7fELF', 'latin1'));
}

/** Everything but folders that the packages own here. */
function packageFiles(names) {
  const listed = run('dpkg-query', ['-L', ...names]).split('\n');
  return listed
    .filter((file) => file.startsWith('/') && !NOT_WANTED.test(file))
    .map(inUsr)
    .filter((file) => fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === false);
}

/** Native addons below node_modules. */
function addons(root) {
  const nodeModules = path.join(root, 'node_modules');
  return fs
    .readdirSync(nodeModules, { recursive: true })
    .filter((name) => name.endsWith('.node'))
    .map((name) => path.join(nodeModules, name));
}

/** The shared libraries that any of the files links to, at any depth. */
function librariesOf(files) {
  // ldd fails on what is linked statically, and that is most of what it is asked about.
  const each = 'for file; do ldd "$file" 2>/dev/null || true; done';
  const said = run('sh', ['-c', each, 'sh', ...files.filter(isElf)]);
  return [...said.matchAll(/(?:=>\s+|^\s+)(\/\S+)\s+\(0x/gm)].map((match) => inUsr(match[1]));
}

/** Copies a file to the same path below `tree`; of a symbolic link also what it points to. */
function addFile(tree, file) {
  const copy = path.join(tree, file);
  if (fs.lstatSync(copy, { throwIfNoEntry: false }) !== undefined) return;
  fs.mkdirSync(path.dirname(copy), { recursive: true });
  if (!fs.lstatSync(file).isSymbolicLink()) {
    fs.copyFileSync(file, copy);
    return;
  }
  const target = fs.readlinkSync(file);
  fs.symlinkSync(target, copy);
  const pointedTo = inUsr(path.resolve(path.dirname(file), target));
  if (fs.statSync(pointedTo, { throwIfNoEntry: false })?.isFile()) addFile(tree, pointedTo);
}

function addKernelModules(tree, kernel) {
  const folder = path.join(tree, 'usr/lib/modules', kernel.release);
  const indexes = fs.readdirSync(kernel.modules).filter((name) => name.startsWith('modules.'));
  for (const entry of [...KERNEL_MODULES.map((name) => `kernel/${name}`), ...indexes]) {
    const source = path.join(kernel.modules, entry);
    if (fs.existsSync(source)) fs.cpSync(source, path.join(folder, entry), { recursive: true });
  }
}

function addNodeModules(tree, root) {
  const nodeModules = path.join(root, 'node_modules');
  fs.cpSync(nodeModules, path.join(tree, nodeModules), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !NOT_WANTED_MODULES.includes(path.relative(nodeModules, source)),
  });
}

/**
 * Fills the empty folder `tree`.
 * @param {{ kernel: object, packages: Map<string, string>, root: string, node: string }} parts checkout and node
 *   binary keep their paths.
 */
function buildTree(tree, { kernel, packages, root, node }) {
  for (const name of MERGED) {
    fs.mkdirSync(path.join(tree, 'usr', name), { recursive: true });
    fs.symlinkSync(`usr/${name}`, path.join(tree, name));
  }
  for (const name of EMPTY_FOLDERS) fs.mkdirSync(path.join(tree, name), { recursive: true });
  const files = [...packageFiles([...packages.keys()]), node, inUsr('/bin/busybox')];
  const libraries = librariesOf([...files, ...addons(root)]);
  for (const file of [...files, ...libraries]) addFile(tree, file);
  for (const [file, text] of Object.entries(SETTINGS)) fs.writeFileSync(path.join(tree, file), text);
  run('/sbin/ldconfig', ['-r', tree]);
  addKernelModules(tree, kernel);
  addNodeModules(tree, root);
}

module.exports = { buildTree };
