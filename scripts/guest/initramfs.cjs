// The initramfs: busybox, the modules that reach the disks, and the scripts of inside/.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { bootModules } = require('./kernel.cjs');

const FILE = 0o100644;
const PROGRAM = 0o100755;
const FOLDER = 0o040755;

/** One entry of a "newc" cpio archive (the kernel's driver-api/early-userspace/buffer-format.rst). */
function cpioEntry(name, mode, data = Buffer.alloc(0)) {
  const padding = (length) => Buffer.alloc((4 - (length % 4)) % 4);
  // ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
  const fields = [0, mode, 0, 0, 1, 0, data.length, 0, 0, 0, 0, Buffer.byteLength(name) + 1, 0];
  const numbers = fields.map((field) => field.toString(16).padStart(8, '0')).join('');
  const header = Buffer.from(`070701${numbers}${name}\0`);
  return Buffer.concat([header, padding(header.length), data, padding(data.length)]);
}

/** A script of inside/ with its @PLACEHOLDERS@ filled in. */
function script(name, values) {
  const text = fs.readFileSync(path.join(__dirname, 'inside', name), 'utf8');
  return Buffer.from(
    text.replace(/@([A-Z]+)@/g, (whole, key) => {
      if (values[key] === undefined) throw new Error(`inside/${name}: nothing fills in ${whole}`);
      return values[key];
    }),
  );
}

/**
 * Writes the initramfs to `file`.
 * @param {{ kernel: object, root: string, node: string }} parts checkout and node binary: paths that are the same in
 *   the guest as on the host.
 */
function writeInitramfs(file, { kernel, root, node }) {
  const modules = bootModules(kernel);
  const names = modules.map((module) => path.basename(module));
  const entries = [
    cpioEntry('bin', FOLDER),
    cpioEntry('bin/busybox', PROGRAM, fs.readFileSync('/bin/busybox')),
    cpioEntry('modules', FOLDER),
    ...modules.map((module, i) =>
      cpioEntry(`modules/${names[i]}`, FILE, fs.readFileSync(path.join(kernel.modules, module))),
    ),
    cpioEntry('init', PROGRAM, script('init', { MODULES: names.join(' ') })),
    cpioEntry('inittab', FILE, script('inittab', {})),
    cpioEntry('run-agent', PROGRAM, script('run-agent', { ROOT: root, NODE: node })),
    cpioEntry('TRAILER!!!', 0),
  ];
  fs.writeFileSync(file, Buffer.concat(entries));
}

module.exports = { writeInitramfs };
